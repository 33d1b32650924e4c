// Attention Bias Calibration (Duan, Shi, Xu 2023, arXiv 2310.11984): a fixed bias that is read off a trained model.
//
//   s_ij = q_i . k_j / sqrt(D) + b_lh(j - i),   b_lh(d): the number that head h of layer l has for d, else -1e6
//
// `poslab calibrate` makes the numbers (experiment/calibrate.h); a second model is then trained with them. Distances
// count slots, so samplers change nothing, and each diagonal continues to any length. A query that has no key at the
// listed distances (near a string's start) sees all keys. Left out: cross-attention, patterns other than diagonals.
#include "encodings/calibrated.h"

#include "encodings/by_distance.h"

namespace poslab {
namespace {

constexpr double hidden = -1e6;   // the value of the released code
constexpr Range distances = {-(1 << 24), 1 << 24}, biases = {-500, 500};

struct Calibrated : Encoding {
  std::vector<SlotBiases> of_heads;
  std::string key;
  Calibrated(const ModelShape& m, const Calibration& all, int layer, std::string key) : key(std::move(key)) {
    for (int h = 0; h < m.heads; ++h) of_heads.push_back(all.of(layer, h));
  }

  Scores scores(const Heads& in, const Positions& p) const override {
    const int T = in.k.dim(1), H = int(of_heads.size());
    Scores s = Encoding::scores(in, p);
    const Tensor rows = p.once(fmt::format("{} {} {}", key, H, T), in.q.device(), [&](Device device) {
      Tensor bias({2 * T - 1, H});                                           // row j - i + T - 1
      for (int h = 0; h < H; ++h)
        for (int d = 1 - T; d < T; ++d) {
          const SlotBiases& list = of_heads[size_t(h)];
          const auto at = list.find(d);
          bias.data()[(d + T - 1) * H + h] = real(at != list.end() ? at->second : list.empty() ? 0 : hidden);
        }
      return bias.to(device);
    });
    s.bias = keep_hidden(rows, s.temperature, hidden);
    return s;
  }
  Tensor logits(const Heads& in, const Positions& p, const Span& span) const override {
    return show_unseen(Encoding::logits(in, p, span), hidden);
  }
};

}  // namespace

const SlotBiases& Calibration::of(int layer, int head) const {
  return of_heads.at(layers ? size_t(layer * heads + head) : 0);
}

Calibration read_calibration(const std::string& text) {
  const std::string form = "calibrated expects LAYER.HEAD and then its DISTANCE:BIAS, as in 1.1 -3:0.4 0:0.1 1.2 "
                           "0:0.6, or `all` for all heads";
  std::map<std::pair<int, int>, SlotBiases> rows;
  SlotBiases* row = nullptr;
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    const size_t colon = word.find(':'), dot = word.find('.');
    if (colon == std::string::npos) {
      std::pair<int, int> at = {0, 0};
      if (word != "all") {
        if (dot == std::string::npos) bad_input("\"{}\": {}", word, form);
        const Range counted{1, 1024};
        at = {int(read_whole("the layer of " + word, word.substr(0, dot), counted, to_string(counted))),
              int(read_whole("the head of " + word, word.substr(dot + 1), counted, to_string(counted)))};
      }
      if (rows.count(at)) bad_input("calibrated: {} is listed twice; give each head one list", word);
      row = &rows[at];
      continue;
    }
    if (!row) bad_input("\"{}\" belongs to no head; {}", word, form);
    const int d = int(read_whole("the distance of " + word, word.substr(0, colon), distances, to_string(distances)));
    const double bias = read_number("the bias of " + word, word.substr(colon + 1), biases, to_string(biases));
    if (!row->emplace(d, bias).second) bad_input("calibrated: {} gives its head distance {} twice; keep one", word, d);
  }
  Calibration c;
  if (rows.empty()) bad_input("calibrated has no numbers; {}", form);
  if (rows.count({0, 0}) && rows.size() > 1)
    bad_input("calibrated: there are lists for `all` and for single heads; give one or the other");
  c.layers = rows.rbegin()->first.first;
  for (const auto& [at, list] : rows) c.heads = std::max(c.heads, at.second);
  if (c.layers && int(rows.size()) != c.layers * c.heads)
    bad_input("calibrated: {} lists for {} layers of {} heads; give each head its list, an empty one if it has no bias",
              rows.size(), c.layers, c.heads);
  for (auto& [at, list] : rows) c.of_heads.push_back(std::move(list));
  return c;
}

std::string text_of(const Calibration& c, const char* between_heads) {
  std::string text;
  for (size_t n = 0; n < c.of_heads.size(); ++n) {
    text += n ? between_heads : "";
    text += c.layers ? fmt::format("{}.{}", n / size_t(c.heads) + 1, n % size_t(c.heads) + 1) : "all";
    for (const auto& [d, bias] : c.of_heads[n]) text += fmt::format(" {}:{:.6g}", d, bias);
  }
  return text;
}

extern const SchemePages calibrated_pages;
Scheme calibrated() {
  const Option of =
      Option::text("of", "all -1:0.6 0:0.3",
                   "LAYER.HEAD DISTANCE:BIAS ..., or @FILE of `poslab calibrate`; the default is an example");
  return {.name = "calibrated", .options = {of}, .reads = always(Reads::slots),
          .check = [](const ModelShape& m, const Choices& c) {
            const Calibration all = read_calibration(c["of"]);
            if (all.layers && (all.layers != m.layers || all.heads != m.heads))
              bad_input("calibrated has biases for {} layers of {} heads, but the model has layers = {}, heads = "
                        "{}; train one of the same shape, or calibrate another run",
                        all.layers, all.heads, m.layers, m.heads);
          },
          .make = [](Params, const ModelShape& m, const Choices& c, int layer) {
            const Calibration all = read_calibration(c["of"]);
            const int list = all.layers ? layer : 0;
            return std::make_unique<Calibrated>(m, all, list, fmt::format("calibrated {} {}", list, c["of"]));
          },
          .laws = always(Laws{.permutes = false}), .pages = calibrated_pages};
}

// -- for pages
const SchemePages calibrated_pages = {
    .summary = "a fixed bias for each distance in slots, from where a trained model's heads looked on average",
    .about = R"(Two models, one after the other. `poslab calibrate` looks at how a trained one attends and keeps,
for each head, the distances at which that head looked most. The second model has these as a fixed
bias from the start and is trained from scratch; it sees no other distance, in strings of any
length. Distances count slots: samplers change nothing.)",
    .formula = "s_ij = q_i . k_j / sqrt(D) + b_h(j - i),   b_h: the head's list, -1e6 where it has no number",
    .source = "Duan, Shi, Xu 2023", .doors = "3",
    .shows = always("The bias of a head, from the attention of another model; -infinity where it does not look.")};

}  // namespace poslab
