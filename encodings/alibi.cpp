// ALiBi (Press et al. 2022): nearer is better, by a slope that each head has to itself.
//
//   s_ij = q_i . k_j / sqrt(D) + m_h ( -|d_ij| + 0.5 [d_ij < 0] )                  d_ij = p_j - p_i
//
// The 0.5, of the released code of Ruoss et al., tells left from right. Not with a causal mask, nor if `symmetric`.
// Learned slopes are m_h = exp(a_h). The author's advice for encoders: slopes for each side, or heads for each side.
#include <fmt/ranges.h>

#include <cmath>

#include "encodings/by_distance.h"

namespace poslab {
namespace {

// With a causal mask there is one side only.
bool split_heads(const ModelShape& m, const Choices& c) { return !m.causal && c["sides"] == "split"; }
bool two_slopes(const ModelShape& m, const Choices& c) { return !m.causal && c["sides"] == "two_slopes"; }

// Of a layer. Split: the heads of each side have the slopes of a layer of half as many heads, of an odd number the left
// has one more.
std::vector<double> slopes(const ModelShape& m, const Choices& c) {
  if (!split_heads(m, c)) return alibi_slopes(m.heads);
  std::vector<double> all = alibi_slopes((m.heads + 1) / 2);
  for (double slope : alibi_slopes(m.heads / 2)) all.push_back(slope);
  all.resize(size_t(m.heads));
  return all;
}

// The paper samples the bias values of ALiBi themselves (spec A.2): a table of offsets.
bool reads_table(const Choices& c) { return c["mode"] != "differences"; }

double left_of(const ModelShape& m, const Choices& c) {
  return c.on("symmetric") || m.causal || split_heads(m, c) || two_slopes(m, c) ? 0 : 0.5;
}

struct ALiBi : ByDistance {
  int heads, looking_left;                         // 0, or how many heads see the left alone; the others the right
  double left;
  bool table;
  std::vector<double> slope;
  Tensor log_slope, log_slope_right;               // (H), if they are learned

  ALiBi(const Params& p, const ModelShape& m, const Choices& c)
      : heads(m.heads),
        looking_left(split_heads(m, c) ? (m.heads + 1) / 2 : 0),
        left(left_of(m, c)),
        table(reads_table(c)),
        slope(slopes(m, c)) {
    const auto learned = [&](const char* name) {
      const Tensor a = p.full(name, {heads}, 0);
      for (int h = 0; h < heads; ++h) a.data()[h] = real(std::log(slope[size_t(h)]));
      return a;
    };
    if (c.on("learned") || two_slopes(m, c)) log_slope = learned("log_slope");
    if (two_slopes(m, c)) log_slope_right = learned("log_slope_right");
  }

  bool sees(double distance, int head) const {
    return !looking_left || distance == 0 || (distance < 0) == (head < looking_left);
  }
  // (N, 1): of one side alone, or of both
  Tensor distances(const Positions& p, Device device, bool on_left, bool on_right) const {
    return of_distances(p, fmt::format("alibi {} {} {}", left, on_left, on_right), device, 1, [&](double d, int) {
      return (d < 0 ? on_left : on_right) ? -std::abs(d) + (d < 0 ? left : 0) : 0;
    });
  }

  void rows(Scores& s, const Positions& p, Device device) const override {
    if (table) p.offsets("alibi");
    const std::string key = fmt::format("alibi {} {} {}", heads, left, looking_left);
    if (!log_slope) {
      s.bias = of_distances(p, key, device, heads, [&](double d, int h) -> double {
        // course 11: alibi
        return sees(d, h) ? slope[size_t(h)] * (-std::abs(d) + (d < 0 ? left : 0)) : unseen;
        // course end
      });
      if (looking_left) s.bias = hidden_at(s.bias, s.temperature);
      return;
    }
    s.bias = distances(p, device, true, !log_slope_right) * exp(log_slope);
    if (log_slope_right) s.bias = s.bias + distances(p, device, false, true) * exp(log_slope_right);
    if (!looking_left) return;
    const auto hidden = [&](double d, int h) { return sees(d, h) ? 0 : unseen; };
    s.bias = hidden_at(s.bias + of_distances(p, key + " hidden", device, heads, hidden), s.temperature);
  }
  Tensor logits(const Heads& in, const Positions& p, const Span& span) const override {
    return show_unseen(Encoding::logits(in, p, span));
  }
};

}  // namespace

Scheme alibi() {
  return {
      .name = "alibi",
      .summary = "a penalty for distance, with a slope of its own for each head",
      .about = R"(A penalty that grows with the distance is subtracted from each logit, so near keys count more than
far ones. Each head has its own slope, from steep (looks nearby) to nearly flat; slopes can also be
learned, or differ by side. A constant of 0.5 tells left from right, which causal models do without.)",
      .source = "Press et al. 2022",
      .formula = "s_ij = q_i . k_j / sqrt(D) + m_h ( -|p_j - p_i| + 0.5 [p_j < p_i] ),   m_h = 2^(-8h/H)",
      .doors = "3",
      .options = {{"mode",
                   {"paper", "offset_table", "differences"},
                   "how relative and alibi read random positions; the paper and its code differ",
                   "relative_mode"},
                  {"symmetric", false, "alibi without the 0.5 that tells left from right", "alibi_symmetric"},
                  {"learned", false, "slopes exp(a) are learned, from ALiBi's on"},
                  {"sides", {"both", "split", "two_slopes"}, "half of the heads, or learned slopes, for each side"}},
      .reads = [](const Choices& c) { return reads_table(c) ? Reads::offset_table : Reads::distances; },
      .check =
          [](const ModelShape& m, const Choices& c) {
            if (m.heads == 1 && split_heads(m, c))
              bad_input("alibi:sides=split gives each side heads of its own, and heads = 1; use 2 or more");
          },
      .make = layer_of<ALiBi>,
      .shows =
          [](const ModelShape& m, const Choices& c) {
            return fmt::format("The bias of a head. Slopes{}: {:.3g}.",
                               c.on("learned") || two_slopes(m, c) ? " before training" : "",
                               fmt::join(slopes(m, c), ", "));
          },
      .laws = [](const ModelShape& m, const Choices& c) -> Laws {
        return {.two_sided = left_of(m, c) == 0 && !split_heads(m, c) && !two_slopes(m, c)};
      }};
}

}  // namespace poslab
