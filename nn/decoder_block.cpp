#include "nn/decoder_block.h"

#include <cmath>

#include "autograd/tape.h"
#include "encodings/grouped_heads.h"

namespace poslab {
// N(0, 1 / in), cut off at two standard deviations. What is added to the sum has 1 / sqrt(2 layers) of that, so that
// its size does not grow with depth (Radford et al. 2019, section 2.3).
DecoderBlock::DecoderBlock(Params p, DecoderBlockSpec s) : spec_(s), name_("block" + std::to_string(s.layer)) {
  const int C = s.d_model, D = s.head_dim, all = s.heads * D, keys = s.key_heads * D;
  const auto weights = [](const Params& at, const char* name, int in, int out, double scale = 1) {
    return weight(at, name, in, out, scale / std::sqrt(double(in)));
  };
  const double added = 1 / std::sqrt(2.0 * s.layers);
  const Params a = p / "attention";
  gain1_ = (p / "norm1").full("gain", {C}, 1);
  query_ = weights(a, "query", C, all), key_ = weights(a, "key", C, keys), value_ = weights(a, "value", C, keys);
  if (s.biases) {
    query_bias_ = a.full("query_bias", {all}, 0), key_bias_ = a.full("key_bias", {keys}, 0);
    value_bias_ = a.full("value_bias", {keys}, 0);
  }
  output_ = weights(a, "output", all, C, added);
  if (s.output_bias) output_bias_ = a.full("output_bias", {C}, 0);
  gain2_ = (p / "norm2").full("gain", {C}, 1);
  gated_ = FeedForward(p / "ffn", {C, s.d_ff, true, Gate::silu, added});
}

Tensor DecoderBlock::attend(const Tensor& y, const LayerPass& pass, KeyValueCache* cache) const {
  const int B = y.dim(0), n = y.dim(1), H = spec_.heads, G = spec_.key_heads, D = spec_.head_dim;
  const auto seen = [&](const char* part, Tensor z) { return traced(pass.trace, name_, part, std::move(z)); };
  const Tensor q = seen(".attention.query", linear(y, query_, query_bias_).reshape({B, n, H, D}));
  KeyValueCache::Entries all{seen(".attention.key", linear(y, key_, key_bias_).reshape({B, n, G, D})),
                             seen(".attention.value", linear(y, value_, value_bias_).reshape({B, n, G, D})), y};
  if (cache) all = cache->append(spec_.layer, all);
  const Span span{.causal = true, .offset = all.k.dim(1) - n, .window = spec_.window};
  Heads heads = pass.temperature({q, all.k, y, all.x}, pass.positions, span);
  heads = fitted(pass.encoding, std::move(heads), pass.positions);
  const Tensor mixed = poslab::attend(name_, pass, heads, each_head(all.v, heads.k.dim(2)), span);
  return seen(".attention.added", linear(mixed.reshape({B, n, H * D}), output_, output_bias_));
}

ResidualNorm DecoderBlock::operator()(const ResidualNorm& in, const Tensor& next_gain, const LayerPass& pass,
                                      KeyValueCache* cache) const {
  const auto add = [&](const Tensor& s, const Tensor& z, const Tensor& gain, Dropout drop, const char* name) {
    const ResidualNorm sum = residual_rms_norm(s, z, gain, spec_.epsilon, drop);
    return traced(pass.trace, name_, name, sum, gain, spec_.epsilon);
  };
  const ResidualNorm mid = add(in.s, attend(in.y, pass, cache), gain2_, pass.dropout, ".attention.out");
  const Tensor f = traced(pass.trace, name_, ".ffn.added", gated_(mid.y));
  return add(mid.s, f, next_gain, pass.second_dropout(), ".out");
}

}  // namespace poslab
