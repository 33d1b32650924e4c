// Sine and cosine of the position, scaled by a learned number, as in x-transformers (spec A.5 (3)):
//
//   h_i = x_i + scale sinusoid(p_i)                 scale: one number, C^(-1/2) before training
#include <cmath>

#include "encodings/encoding.h"
#include "encodings/sinusoid.h"

namespace poslab {

extern const SchemePages scaled_sincos_pages;
Scheme scaled_sincos() {
  return {.name = "scaled_sincos", .reads = always(Reads::positions),
          .check = [](const ModelShape& m, const Choices&) { check_halves("scaled_sincos", m.d_model); },
          .embed = [](Params p, const ModelShape& m, const Choices&) -> PositionEmbedding {
            return [scale = p.full("scale", {1}, 1 / std::sqrt(double(m.d_model)))](const Tensor& x,
                                                                                    const Positions& at) {
              const Tensor waves = sinusoid(at.tokens("scaled_sincos"), x.dim(-1), x.device());
              return x + waves.reshape({at.sequences(), at.time(), x.dim(-1)}) * scale;
            };
          },
          .laws = always(Laws{.shift = false, .toeplitz = false}), .pages = scaled_sincos_pages};
}

// -- for pages
const SchemePages scaled_sincos_pages = {
    .summary = "sine and cosine of the position, scaled by a learned number, added to the embedding",
    .about = R"(The vectors of sincos times one learned number. It begins small, so that positions do not drown
the symbols in a model whose embeddings are small.)",
    .formula = "h_i = x_i + scale [ sin(p_i f_m), cos(p_i f_m) ],   f_m = 10000^(-2m/C)", .source = "x-transformers",
    .doors = "1",
    .shows = always("The similarity of the vectors of two slots: the cosine between them.")};

}  // namespace poslab
