// HoPE, hyperbolic (Dai et al. 2025, arXiv 2509.05218): Lorentz boosts where RoPE has rotations, and a decay.
//
//   s_ij = sum_m e^(-|d| decay) (q_m1, q_m2) [cosh d f_m, sinh d f_m; sinh d f_m, cosh d f_m] (k_m1, k_m2) / sqrt(D)
//   d = p_i - p_j, f_m = 10000^(-2m/D), decay above all f_m                          pairs: m and m + D/2
//
// Written from two accounts of the paper's equations 5 to 12. The paper has only keys before the query; |d| is for both
// sides. In channels (q_m1 +- q_m2) / sqrt(2) a boost is a factor e^(+-d f_m), which with the decay cannot overflow.
#include <cmath>

#include "encodings/rotary.h"
#include "encodings/sinusoid.h"
#include "encodings/windows.h"

namespace poslab {
namespace {

struct Boosts : WholeLogits {
  double decay;
  explicit Boosts(const Choices& c) : decay(c.number("decay")) {}

  Tensor pairs(const Heads& in, const Positions& p, const Span&) const override {
    const int D = in.q.dim(3);
    const auto boosted = [&](const Tensor& x) {                                            // (B, H, T, D)
      const Tensor heads = by_head(x), a = slice(heads, 3, 0, D / 2), b = slice(heads, 3, D / 2, D);
      return concat({a + b, a - b}, 3);
    };
    const Tensor q = boosted(in.q) * (0.5 / std::sqrt(double(D))), k = boosted(in.k);
    const std::vector<double> f = frequencies(D);
    Tensor s;
    for (int c = 0; c < D; ++c) {
      const double boost = c < D / 2 ? f[size_t(c)] : -f[size_t(c - D / 2)];
      const Tensor factor = by_positions(
          in, p, fmt::format("hope_hyp {} {}", boost, decay),
          [&](double i, double j) { return std::exp((i - j) * boost - std::abs(i - j) * decay); });
      const Tensor part = matmul(slice(q, 3, c, c + 1), transpose(slice(k, 3, c, c + 1))) * factor;
      s = c ? s + part : part;
    }
    return s;
  }
};

}  // namespace

extern const SchemePages hope_hyp_pages;
Scheme hope_hyp() {
  return {.name = "hope_hyp",
          .options = {{"decay", 1.1, {1.0001, 100}, "how fast products fade; above the largest frequency, which is 1"}},
          .reads = always(Reads::positions),
          .check = [](const ModelShape& m, const Choices&) { check_pairs("hope_hyp", m); },
          .make = [](Params, const ModelShape&, const Choices& c, int) { return std::make_unique<Boosts>(c); },
          .pages = hope_hyp_pages};
}

// -- for pages
const SchemePages hope_hyp_pages = {
    .summary = "boosts in place of rotations, so that logits fade with the distance and never swing",
    .about = R"(RoPE with hyperbolic functions in place of sine and cosine, times a decay: the product of a query
and a key shrinks with their distance and does not swing. Two other schemes are called HoPE too.)",
    .formula = "s_ij = e^(-|p_i - p_j| decay) q_i . B(p_i - p_j) k_j / sqrt(D),   "
               "B(d) boosts pair m by d 10000^(-2m/D)",
    .source = "Dai et al. 2025", .doors = "3",
    .shows = always("The logit of equal contents, which shrinks with the distance."),
    .pictures = {.matrix = cosines,
                 .distances = [](const ModelShape&, const Choices&, const Positions& p) {
                   const std::vector<double>& at = p.tokens("hope_hyp");
                   return effective_distances({{.q = at, .k = at}}, p.time());
                 }},
    .cost = {.matrices = [](const ModelShape& m, const Choices&) { return 3. * m.head_dim(); },
             .live = [](const ModelShape& m, const Choices&) { return 3 + double(m.head_dim()) / m.heads; }}};

}  // namespace poslab
