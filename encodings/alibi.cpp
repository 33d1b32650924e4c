// ALiBi (Press et al. 2022): a penalty that grows linearly with the distance; each head has its own slope.
//
//   s_ij = q_i . k_j / sqrt(D) + m_h ( -|d_ij| + 0.5 [d_ij < 0] )                  d_ij = p_j - p_i
//
// The 0.5 is from the released code of Ruoss et al. and tells left from right; a causal mask or `symmetric` drops it.
// Learned slopes are m_h = exp(a_h). For encoders the author advises separate slopes, or separate heads, for each side.
#include <fmt/ranges.h>

#include <cmath>

#include "encodings/by_distance.h"

namespace poslab {
namespace {

// Ruoss et al. sample ALiBi's biases instead of positions (spec A.2), from a table of offsets.
bool reads_table(const Choices& c) { return c["mode"] != "differences"; }
// With a causal mask there is only one side.
bool sides_are(const char* word, const ModelShape& m, const Choices& c) { return !m.causal && c["sides"] == word; }
double left_of(const ModelShape& m, const Choices& c) {
  return c.on("symmetric") || m.causal || c["sides"] != "both" ? 0 : 0.5;
}

struct ALiBi : ByDistance {
  std::vector<double> slope;                       // of each head
  double left;                                     // 0.5, or 0 where both sides are alike
  bool table;
  std::string key;
  ALiBi(const std::vector<double>& slope, double left, bool table)
      : slope(slope), left(left), table(table), key(fmt::format("alibi {} {}", fmt::join(slope, " "), left)) {}

  double bias(double d, int h) const {             // at distance d, in head h
    return slope[size_t(h)] * (-std::abs(d) + (d < 0 ? left : 0));
  }
  void rows(Scores& s, const Positions& p, Device device) const override {
    if (table) p.offsets("alibi");
    s.bias = distance_table(p, key, device, int(slope.size()), [this](double d, int h) { return bias(d, h); });
  }
};

std::unique_ptr<Encoding> make_alibi(const LayerParams&, const ModelShape&, const Choices&, int layer);

}  // namespace

extern const SchemePages alibi_pages;
Scheme alibi() {
  return {.name = "alibi",
          .options = {{"mode", {"paper", "offset_table", "differences"},
                       "how relative and alibi read random positions; the paper and its code differ"},
                      {"symmetric", false, "without the 0.5 that tells left from right, as under a causal mask"},
                      {"learned", false, "learned slopes exp(a), which begin as ALiBi's"},
                      {"sides", {"both", "split", "two_slopes"},
                       "without a mask: heads see both sides, one side, or both with two learned slopes"}},
          .reads = [](const Choices& c) { return reads_table(c) ? Reads::offset_table : Reads::distances; },
          .check = [](const ModelShape& m, const Choices& c) {
            if (m.heads == 1 && sides_are("split", m, c))
              bad_input("alibi:sides=split gives each side heads of its own, but heads = 1; use 2 or more");
          },
          .make = make_alibi,
          .laws = [](const ModelShape& m, const Choices& c) -> Laws {
            return {.two_sided = left_of(m, c) == 0 && (m.causal || c["sides"] == "both")};
          },
          .pages = alibi_pages};
}

// -- learned slopes, and sides that differ
namespace {

// sides=split: the heads of each side have the slopes of a layer with half as many heads; if the number of heads is
// odd, the left side has one more.
std::vector<double> slopes(const ModelShape& m, const Choices& c) {
  if (!sides_are("split", m, c)) return alibi_slopes(m.heads);
  std::vector<double> all = alibi_slopes((m.heads + 1) / 2);
  for (double slope : alibi_slopes(m.heads / 2)) all.push_back(slope);
  all.resize(size_t(m.heads));
  return all;
}

struct VariedALiBi : ALiBi {
  int heads, looking_left;                         // 0, or how many heads see only the left; the rest see the right
  Tensor log_slope, log_slope_right;               // (H), if they are learned

  VariedALiBi(const Params& p, const ModelShape& m, const Choices& c)
      : ALiBi(slopes(m, c), left_of(m, c), reads_table(c)),
        heads(m.heads),
        looking_left(sides_are("split", m, c) ? (m.heads + 1) / 2 : 0) {
    const auto learned = [&](const char* name) {
      const Tensor a = p.full(name, {heads}, 0);
      for (int h = 0; h < heads; ++h) a.data()[h] = real(std::log(slope[size_t(h)]));
      return a;
    };
    const bool two_slopes = sides_are("two_slopes", m, c);
    if (c.on("learned") || two_slopes) log_slope = learned("log_slope");
    if (two_slopes) log_slope_right = learned("log_slope_right");
  }

  // -|d| (+ 0.5) at distances on one side or on both, 0 elsewhere: (N, 1)
  Tensor distances(const Positions& p, Device device, bool on_left, bool on_right) const {
    return distance_table(p, fmt::format("alibi {} {} {}", left, on_left, on_right), device, 1, [&](double d, int) {
      return (d < 0 ? on_left : on_right) ? -std::abs(d) + (d < 0 ? left : 0) : 0;
    });
  }

  void rows(Scores& s, const Positions& p, Device device) const override {
    ALiBi::rows(s, p, device);
    if (log_slope) s.bias = distances(p, device, true, !log_slope_right) * exp(log_slope);
    if (log_slope_right) s.bias = s.bias + distances(p, device, false, true) * exp(log_slope_right);
    if (!looking_left) return;
    const auto hidden = [&](double d, int h) { return d == 0 || (d < 0) == (h < looking_left) ? 0 : unseen; };
    s.bias = keep_hidden(s.bias + distance_table(p, key + " hidden", device, heads, hidden), s.temperature);
  }
  Tensor logits(const Heads& in, const Positions& p, const Span& span) const override {
    return show_unseen(Encoding::logits(in, p, span));
  }
};

std::unique_ptr<Encoding> make_alibi(const LayerParams& p, const ModelShape& m, const Choices& c, int) {
  if (c.on("learned") || (!m.causal && c["sides"] != "both")) return std::make_unique<VariedALiBi>(p, m, c);
  return std::make_unique<ALiBi>(alibi_slopes(m.heads), left_of(m, c), reads_table(c));
}

}  // namespace

// -- for pages
const SchemePages alibi_pages = {
    .summary = "a penalty for distance, with a slope of its own for each head",
    .about = R"(A penalty that grows with the distance is subtracted from each logit, so near keys count more than
far ones. Each head has its own slope, from steep (looks nearby) to nearly flat; slopes can also be
learned, or differ by side. A constant of 0.5 tells left from right, which causal models do without.)",
    .formula = "s_ij = q_i . k_j / sqrt(D) + m_h ( -|p_j - p_i| + 0.5 [p_j < p_i] ),   m_h = 2^(-8h/H)",
    .source = "Press et al. 2022", .doors = "3",
    .shows = [](const ModelShape& m, const Choices& c) {
      return fmt::format("The bias of a head. Slopes{}: {:.3g}.",
                         c.on("learned") || sides_are("two_slopes", m, c) ? " before training" : "",
                         fmt::join(slopes(m, c), ", "));
    }};

}  // namespace poslab
