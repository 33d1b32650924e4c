// Learnable Fourier features (Li et al. 2021, arXiv 2106.02795): waves of learned frequencies through a small network.
//
//   h_i = x_i + gelu(r_i w1 + b1) w2 + b2,   r_i = [ cos(p_i f), sin(p_i f) ] / sqrt(F)
//
//   f: (F/2), initially normal with standard deviation 1/gamma; w1: (F, hidden), w2: (hidden, C)
// Left out: positions of several dimensions and groups of them, for which the paper was written.
#include <cmath>

#include "encodings/encoding.h"
#include "encodings/phases.h"

namespace poslab {
namespace {

struct Waves {
  Tensor f, w1, b1, w2, b2;
  Waves(const Params& p, const ModelShape& m, const Choices& c) {
    const int F = 2 * c.whole("waves"), hidden = c.whole("hidden");
    f = p.normal("f", {F / 2}, 1 / c.number("gamma"));
    w1 = p.truncated_normal("w1", {F, hidden}, 1 / std::sqrt(double(F))), b1 = p.full("b1", {hidden}, 0);
    w2 = p.truncated_normal("w2", {hidden, m.d_model}, 1 / std::sqrt(double(hidden)));
    b2 = p.full("b2", {m.d_model}, 0);
  }
  Tensor operator()(const Tensor& x, const Positions& at) const {
    const Shape slots{at.sequences(), at.time(), 1};
    const Tensor p = constant(at, "learned_fourier", x.device(), slots, at.tokens("learned_fourier"));
    const Tensor angle = p * f;                                                           // (1 or B, T, F/2)
    const Tensor r = concat({cos(angle), sin(angle)}, 2) * (1 / std::sqrt(double(w1.dim(0))));
    return x + linear(gelu(linear(r, w1, b1)), w2, b2);
  }
};

}  // namespace

extern const SchemePages learned_fourier_pages;
Scheme learned_fourier() {
  return {.name = "learned_fourier",
          .options = {{"waves", 32, {1, 4096}, "frequencies, F/2"},
                      {"hidden", 32, {1, 4096}, "width of the network"},
                      {"gamma", 10., {1e-3, 1e6}, "initial frequencies deviate by 1/gamma radians per position"}},
          .reads = always(Reads::positions),
          .embed = [](Params p, const ModelShape& m, const Choices& c) -> PositionEmbedding { return Waves(p, m, c); },
          .laws = always(Laws{.shift = false, .toeplitz = false}), .pages = learned_fourier_pages};
}

// -- for pages
const SchemePages learned_fourier_pages = {
    .summary = "waves of learned frequencies through a small network, added to the embedding",
    .about = R"(Like sincos, but the frequencies are learned, and a small network turns the sines and cosines into
a vector that is added to the embedding. Positions may be any real numbers.)",
    .formula = "h_i = x_i + gelu(r_i w1 + b1) w2 + b2,   r_i = [ cos(p_i f), sin(p_i f) ] / sqrt(F)",
    .source = "Li et al. 2021", .doors = "1",
    .shows = always("The similarity of the vectors of two slots: the cosine between them.")};

}  // namespace poslab
