// FoPE (Hua et al. 2025): each pair of channels carries a Fourier series of all frequencies that turn fully in L.
//
//   [x1, x2] -> [C x1 - S x2, C x2 + S x1],   C_m(p) = cos(p f_m) + sum_k a_km cos(p f_k),   S_m: sin and b
//   a, b: (K, H M), K pairs with 2 pi / f_k <= L; M = K. Other pairs stay.        pair m is (m, m + D/2)
// The released code has at most M = D/4 series (dominant: every ceil(K/M)-th) and never trains a and b; here they are
// learned. The code pads both tables with ones, so pairs that should stay turn by 45 degrees and grow by sqrt(2).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "encodings/rotary.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

std::vector<double> kept(const ModelShape& m, const Choices& c) {
  std::vector<double> f = frequencies(m.head_dim(), c.number("base"));
  std::erase_if(f, [&](double x) { return 2 * std::numbers::pi / x > c.number("length"); });
  return f;
}

struct Fope : Encoding {
  int H, half;
  bool released;
  std::vector<double> f;
  int K, M;
  std::string name;
  Tensor a, b;

  Fope(const Params& p, const ModelShape& m, const Choices& c)
      : H(m.heads), half(m.head_dim() / 2), released(c["mode"] == "released"), f(kept(m, c)), K(int(f.size())),
        M(released ? std::min(K, std::max(1, half / 2)) : K), name(c.spelled()),
        a(p.normal("cosine", {K, H * M}, c.number("sigma") / std::sqrt(K))),
        b(p.normal("sine", {K, H * M}, c.number("sigma") / std::sqrt(K))) {}

  // 1 at the dominant frequency of each series, else 0: (K, H M).
  Tensor dominant() const {
    Tensor one = Tensor::full({K, H * M}, 0);
    const int step = (K + M - 1) / M;
    for (int h = 0; h < H; ++h)
      for (int m = 0; m < M && m * step < K; ++m) one.data()[(m * step * H + h) * M + m] = 1;
    return one;
  }

  // Series of (S, T, K) waves, and `rest` for the pairs that stay: (S, T, H, D/2).
  Tensor series(const Tensor& waves, const Tensor& weights, real rest) const {
    const int S = waves.dim(0), T = waves.dim(1);
    const Tensor y = linear(waves, weights).reshape({S, T, H, M});
    return M == half ? y : concat({y, Tensor::full({S, T, H, half - M}, rest, waves.device())}, 3);
  }

  Tensor carried(const Tensor& x, const Rotation& r, const Tensor& one) const {
    const Tensor C = series(r.cosine, one + a, 1), S = series(r.sine, one + b, released ? 1 : 0);
    const Tensor x1 = slice(x, 3, 0, half), x2 = slice(x, 3, half, 2 * half);
    return concat({C * x1 - S * x2, C * x2 + S * x1}, 3);
  }

  Scores scores(const Heads& in, const Positions& p) const override {
    const std::string key = fmt::format("{} {} {}", name, half, H);
    const Rotation r = rotation_by(p, name, key, in.q.device(), f);
    const Tensor one = p.once("dominant " + key, in.q.device(), [&](Device there) { return dominant().to(there); });
    Scores s = Encoding::scores(in, p);
    s.pieces[0] = {carried(in.q, last_slots(r, in.q.dim(1)), one), carried(in.k, r, one)};
    return s;
  }
};

}  // namespace

extern const SchemePages fope_pages;
Scheme fope() {
  return {.name = "fope",
          .options = {length_option(7),
                      {"sigma", 0.3, {0, 100}, "initial size of the other frequencies, divided by sqrt(K)"},
                      {"mode", {"paper", "released"}, "released: at most D/4 series, other pairs scaled"},
                      rope_base()},
          .reads = always(Reads::positions),
          .check = [](const ModelShape& m, const Choices&) { check_pairs("fope", m); }, .make = layer_of<Fope>,
          .laws = always(Laws{.shift = false, .toeplitz = false}), .pages = fope_pages};
}

// -- for pages
const SchemePages fope_pages = {
    .summary = "RoPE whose pairs each carry a learned series of all frequencies that turn fully",
    .about = R"(A deep network mixes frequencies, so a pair of channels ends up with more than its own. FoPE mixes
them from the start: each pair is multiplied by a short Fourier series, its own frequency and a
little of all others that turn fully in the trained length. Pairs that do not turn fully carry no
position. Logits depend on positions themselves, no longer on distances alone.)",
    .formula = "[x1, x2] -> [C x1 - S x2, C x2 + S x1], C_m(p) = cos(p f_m) + sum_k a_km cos(p f_k), S: sines",
    .source = "Hua et al. 2025", .doors = "2",
    .shows = always("The similarity of two equal contents after their series, with the present weights."),
    .pictures = {.matrix = equal_contents,
                 .frequencies = [](const ModelShape& m, const Choices& c, int, int) {
                   std::vector<double> f = kept(m, c);
                   f.resize(size_t(m.head_dim() / 2));
                   return f;
                 }}};

}  // namespace poslab
