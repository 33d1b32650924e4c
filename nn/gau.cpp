#include "nn/gau.h"

#include <cmath>

#include "autograd/tape.h"
#include "nn/documents.h"

namespace poslab {

Gau::Gau(Params p, GauSpec s) : spec_(s), name_("block" + std::to_string(s.layer)) {
  const int C = s.d_model, D = s.head_dim, E = s.width;
  const double beta = std::pow(4.0 * s.layers, -0.25);
  const Params a = p / "attention";
  wu_ = a.truncated_normal("gate", {C, E}, beta / std::sqrt(double(C)));
  wv_ = a.truncated_normal("value", {C, E}, beta / std::sqrt(double(C)));
  wz_ = a.truncated_normal("shared", {C, D}, 1 / std::sqrt(double(C)));
  // z is small, and its mean is above 0; a gain of 1 would make all logits nearly equal
  q_gain_ = (a / "query").normal("gain", {D}, 1), q_bias_ = (a / "query").full("bias", {D}, 0);
  k_gain_ = (a / "key").normal("gain", {D}, 1), k_bias_ = (a / "key").full("bias", {D}, 0);
  wo_ = a.truncated_normal("output", {E, C}, beta / std::sqrt(double(E)));
  gain_ = (p / "norm").full("gain", {C}, 1);
}

Tensor Gau::operator()(const Tensor& x, const LayerPass& pass, KeyValueCache* cache) const {
  const int B = x.dim(0), n = x.dim(1), D = spec_.head_dim, E = spec_.width;
  const auto activation = [&](const char* part, Tensor t) { return expose(pass.trace, name_, part, std::move(t)); };
  const Tensor z = silu(linear(x, wz_));
  const Tensor q = activation(".attention.query", (z * q_gain_ + q_bias_).reshape({B, n, 1, D}));
  KeyValueCache::Entries all{activation(".attention.key", (z * k_gain_ + k_bias_).reshape({B, n, 1, D})),
                             activation(".attention.value", silu(linear(x, wv_)).reshape({B, n, 1, E}))};
  if (cache) all = cache->append(spec_.layer, all);
  const auto mix = [&](const Heads& in, const Tensor& v, const LayerPass& of) {
    const Span span{.causal = true, .offset = in.k.dim(1) - in.q.dim(1),
                    .key_lengths = cache ? cache->key_lengths(n) : Ids()};
    return attend(name_, of, of.temperature(in, of.positions, span), v, span);
  };
  const Tensor mixed =
      mix_documents(name_, spec_.layer % spec_.layers, pass, {q, all.k, x}, all.v, mix).reshape({B, n, E});
  const Tensor o = activation(".attention.added", linear(silu(linear(x, wu_)) * mixed, wo_));
  const Tensor scaled = x * std::pow(double(spec_.layers), 0.25);
  return activation(".out", residual_rms_norm(scaled, o, gain_, spec_.epsilon, pass.dropout).y);
}

Gau Gau::at(int layer) const {
  Gau other = *this;
  other.spec_.layer = layer, other.name_ = "block" + std::to_string(layer);
  return other;
}

}  // namespace poslab
