#include "nn/decoder_block.h"

#include <cmath>

#include "autograd/tape.h"
#include "encodings/grouped_heads.h"
#include "nn/documents.h"

namespace poslab {
// N(0, 1 / in), cut off at two standard deviations. Projections onto the residual sum start 1 / sqrt(2 layers) times as
// large, so that the sum does not grow with depth (Radford et al. 2019, section 2.3).
DecoderBlock::DecoderBlock(Params p, DecoderBlockSpec s) : spec_(s), name_("block" + std::to_string(s.layer)) {
  const int C = s.d_model, D = s.head_dim, all = s.heads * D, keys = s.key_heads * D;
  const auto weights = [](const Params& at, const char* name, int in, int out, double scale = 1) {
    return weight(at, name, in, out, scale / std::sqrt(double(in)));
  };
  const double added = 1 / std::sqrt(2.0 * s.layers);
  const Params a = p / "attention";
  const auto gain = [](const Params& at, int n) { return at.full("gain", {n}, 1); };
  const bool before = s.norms != NormPlace::after, after = s.norms != NormPlace::before;
  if (before) gain1_ = gain(p / "norm1", C);
  query_ = weights(a, "query", C, all), key_ = weights(a, "key", C, keys), value_ = weights(a, "value", C, keys);
  if (s.biases) {
    query_bias_ = a.full("query_bias", {all}, 0), key_bias_ = a.full("key_bias", {keys}, 0);
    value_bias_ = a.full("value_bias", {keys}, 0);
  }
  if (s.query_key_norm != QueryKeyNorm::none) {
    const bool each = s.query_key_norm == QueryKeyNorm::each_head;
    query_gain_ = gain(a / "query_norm", each ? D : all), key_gain_ = gain(a / "key_norm", each ? D : keys);
  }
  output_ = weights(a, "output", all, C, added);
  if (s.output_bias) output_bias_ = a.full("output_bias", {C}, 0);
  if (after) gain_after1_ = gain(a / "norm", C);
  if (before) gain2_ = gain(p / "norm2", C);
  gated_ = FeedForward(p / "ffn", {C, s.d_ff, true, s.gate, added});
  if (after) gain_after2_ = gain(p / "ffn" / "norm", C);
}

Tensor DecoderBlock::normalize(const Tensor& x, const Tensor& gain) const {
  return gain ? rms_norm(x, gain, spec_.epsilon) : x;
}

// (B, T, heads D) -> (B, T, heads, D). With a gain: normalized over the D channels of each head, or of all.
Tensor DecoderBlock::normalize_heads(const Tensor& x, const Tensor& gain, int heads) const {
  const Shape apart{x.dim(0), x.dim(1), heads, spec_.head_dim};
  return spec_.query_key_norm == QueryKeyNorm::all_heads ? normalize(x, gain).reshape(apart)
                                                         : normalize(x.reshape(apart), gain);
}

Tensor DecoderBlock::attend(const Tensor& y, const LayerPass& pass, KeyValueCache* cache) const {
  const int B = y.dim(0), n = y.dim(1), H = spec_.heads, G = spec_.key_heads, D = spec_.head_dim;
  const auto activation = [&](const char* part, Tensor z) { return expose(pass.trace, name_, part, std::move(z)); };
  const Tensor q = activation(".attention.query", normalize_heads(linear(y, query_, query_bias_), query_gain_, H));
  KeyValueCache::Entries all{activation(".attention.key", normalize_heads(linear(y, key_, key_bias_), key_gain_, G)),
                             activation(".attention.value", linear(y, value_, value_bias_).reshape({B, n, G, D})), y};
  if (cache) all = cache->append(spec_.layer, all);
  const auto mix = [&](const Heads& in, const Tensor& v, const LayerPass& of) {
    const Span span{.causal = true, .offset = in.k.dim(1) - in.q.dim(1),
                    .key_lengths = cache ? cache->key_lengths(n) : Ids(), .window = spec_.window};
    const Heads heads = fit_key_heads(of.encoding, of.temperature(in, of.positions, span), of.positions);
    return poslab::attend(name_, of, heads, repeat_heads(v, heads.k.dim(2)), span);
  };
  const Tensor mixed = mix_documents(name_, spec_.layer % spec_.layers, pass, {q, all.k, y, all.x}, all.v, mix);
  const Tensor added = linear(mixed.reshape({B, n, H * D}), output_, output_bias_);
  return activation(".attention.added", normalize(added, gain_after1_));
}

ResidualNorm DecoderBlock::operator()(const ResidualNorm& in, const Tensor& next_gain, const LayerPass& pass,
                                      KeyValueCache* cache) const {
  const auto add = [&](const Tensor& s, const Tensor& z, const Tensor& gain, Dropout drop, const char* name) {
    if (!gain) {
      const Tensor sum = expose(pass.trace, name_, name, s + dropout(z, drop));
      return ResidualNorm{sum, sum};
    }
    const ResidualNorm sum = residual_rms_norm(s, z, gain, spec_.epsilon, drop);
    return expose(pass.trace, name_, name, sum, gain, spec_.epsilon);
  };
  const ResidualNorm mid = add(in.s, attend(in.y, pass, cache), gain2_, pass.dropout, ".attention.out");
  const Tensor f = expose(pass.trace, name_, ".ffn.added", normalize(gated_(mid.y), gain_after2_));
  return add(mid.s, f, next_gain, pass.second_dropout(), ".out");
}

DecoderBlock DecoderBlock::at(int layer) const {
  DecoderBlock other = *this;
  other.spec_.layer = layer, other.name_ = "block" + std::to_string(layer);
  return other;
}

}  // namespace poslab
