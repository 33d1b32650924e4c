// Sine and cosine of the position, added to the embedding (Vaswani et al. 2017):
//
//   h_i = x_i + sinusoid(p_i)                       x: (B, T, C)   p: (1 or B, T)
#include "encodings/encoding.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

struct SinCos : Encoding {
  explicit SinCos(const EncodingSpec& spec) { frequencies(spec.d_model); }   // throws for an odd width

  bool adds_to_embedding() const override { return true; }
  Tensor embed(const Tensor& x, const Positions& p) const override {
    const Tensor rows = sinusoid(p.tokens("sincos"), x.dim(-1), x.device());
    return x + rows.reshape({p.sequences(), p.time(), x.dim(-1)});
  }
  double told(double distance, int) const override { return distance; }
};

}  // namespace

Scheme sincos() {
  return {"sincos", "sine and cosine of the position, added to the embedding", "Vaswani et al. 2017", false,
          [](Params, const EncodingSpec& spec) { return std::make_unique<SinCos>(spec); }};
}

}  // namespace poslab
