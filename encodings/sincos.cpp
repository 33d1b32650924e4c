// Sine and cosine of the position, added to the embedding (Vaswani et al. 2017):
//
//   h_i = x_i + sinusoid(p_i)                       x: (B, T, C)   p: (1 or B, T)
#include "encodings/encoding.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

Tensor add_sinusoids(const Tensor& x, const Positions& p) {
  return x + sinusoid(p.tokens("sincos"), x.dim(-1), x.device()).reshape({p.sequences(), p.time(), x.dim(-1)});
}

}  // namespace

extern const SchemePages sincos_pages;
Scheme sincos() {
  return {.name = "sincos", .reads = always(Reads::positions),
          .check = [](const ModelShape& m, const Choices&) { check_halves("sincos", m.d_model); },
          .embed = [](Params, const ModelShape&, const Choices&) -> PositionEmbedding { return add_sinusoids; },
          .laws = always(Laws{.shift = false, .toeplitz = false}), .pages = sincos_pages};
}

// -- for pages
static const OtherNames words_for_sincos("sincos", {"sinusoidal", "sin-cos", "sin", "absolute"});

const SchemePages sincos_pages = {
    .summary = "sine and cosine of the position, added to the embedding",
    .about = R"(Each position has a fixed vector of sines and cosines of many wavelengths, which is added to the
embedding of the symbol that stands there. Near positions have similar vectors. At test, longer
strings bring vectors that training has not seen.)",
    .formula = "h_i = x_i + [ sin(p_i f_m), cos(p_i f_m) ],   f_m = 10000^(-2m/C)", .source = "Vaswani et al. 2017",
    .doors = "1",
    .shows = always("The similarity of the vectors of two slots: the cosine between them.")};

}  // namespace poslab
