// NAPE (Vasylenko et al. 2025; github.com/deep-spin/asentmax): half the heads ALiBi, the others without positions.
//
//   s_ij = q_i . k_j / sqrt(D) - m_h |p_i - p_j|,   m_h = 1/h for h = 1 .. H/2, then 0
//
// slopes=exponential: 2^(1-h), as released. A slope of 0 leaves a head without positions. The paper's other
// two parts are encodings/entmax.cpp and a temperature: entmax:base=nape with --temperature asentmax:heads=second_half.
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "encodings/by_distance.h"

namespace poslab {
namespace {

std::vector<double> nape_slopes(const ModelShape& m, const Choices& c) {
  std::vector<double> list;
  for (int h = 1; h <= m.heads; ++h)
    list.push_back(h > m.heads / 2 ? 0 : c["slopes"] == "linear" ? 1. / h : std::exp2(1 - h));
  return list;
}

struct NAPE : ByDistance {
  std::vector<double> slope;
  std::string key;
  NAPE(const ModelShape& m, const Choices& c) : slope(nape_slopes(m, c)), key(c.spelled()) {}

  void rows(Scores& s, const Positions& p, Device device) const override {
    s.bias = distance_table(p, key, device, int(slope.size()),
                          [&](double distance, int h) { return -slope[size_t(h)] * std::abs(distance); });
  }
};

}  // namespace

extern const SchemePages nape_pages;
Scheme nape() {
  return {.name = "nape", .options = {{"slopes", {"linear", "exponential"}, "1/h or 2^(1-h), of heads h = 1 .. H/2"}},
          .reads = always(Reads::distances),
          .check = [](const ModelShape& m, const Choices&) {
            if (m.heads < 2)
              bad_input("nape gives half of the heads positions, but heads = {}; use 2 or more", m.heads);
          },
          .make = [](Params, const ModelShape& m, const Choices& c, int) { return std::make_unique<NAPE>(m, c); },
          .laws = always(Laws{.two_sided = true}), .pages = nape_pages};
}

// -- for pages
// The first heads have p_j - p_i, the others none: (H, T, T)
static Tensor nape_distances(const ModelShape& m, const Choices&, const Positions& p) {
  const int T = p.time();
  std::vector<double> all(size_t(m.heads) * size_t(T) * size_t(T), std::numeric_limits<double>::quiet_NaN());
  const std::vector<double>& value = p.distances().value;
  for (int h = 0; h < m.heads / 2; ++h)
    for (int i = 0; i < T; ++i)
      for (int j = 0; j < T; ++j) all[size_t((h * T + i) * T + j)] = value[size_t(p.distances().row(0, i, j, T))];
  return Tensor::from({m.heads, T, T}, all);
}

const SchemePages nape_pages = {
    .summary = "half the heads with a penalty for distance, the others without positions",
    .about = R"(In half of the heads a penalty that grows with the distance is subtracted from each logit, so
that near keys count more. The other half is given no positions and finds keys by content, wherever
they are. Nothing is learned.)",
    .formula = "s_ij = q_i . k_j / sqrt(D) - m_h |p_i - p_j|,   m_h = 1/h for h = 1 .. H/2, then 0",
    .source = "Vasylenko et al. 2025", .doors = "3",
    .shows = [](const ModelShape& m, const Choices& c) {
      return fmt::format("The bias that is added to the logits of a head. The heads' slopes: {:.3g}.",
                         fmt::join(nape_slopes(m, c), ", "));
    },
    .pictures = {.distances = nape_distances}};

}  // namespace poslab
