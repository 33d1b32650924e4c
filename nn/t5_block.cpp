#include "nn/t5_block.h"

#include <cmath>

#include "autograd/tape.h"
#include "nn/traced.h"

namespace poslab {

// Initialized as in T5: N(0, 1 / in), and W_q 1 / sqrt(D) times as large if logits have no such factor.
T5Block::Attention T5Block::attention(const Params& p) const {
  const int C = spec_.d_model, all = spec_.heads * spec_.head_dim;
  const double in = 1 / std::sqrt(double(C));
  Attention a;
  a.query = weight(p, "query", C, all, spec_.unscaled ? in / std::sqrt(double(spec_.head_dim)) : in);
  a.key = weight(p, "key", C, all, in), a.value = weight(p, "value", C, all, in);
  a.output = weight(p, "output", all, C, 1 / std::sqrt(double(all)));
  return a;
}

T5Block::T5Block(const Params& p, const T5BlockSpec& s)
    : spec_(s), name_((s.decoder ? "decoder.block" : "encoder.block") + std::to_string(s.layer)) {
  const auto gain = [&](const char* name) { return (p / name).full("gain", {s.d_model}, 1); };
  gain1_ = gain("norm1"), self_ = attention(p / "attention");
  if (s.decoder) gain_cross_ = gain("norm_cross"), cross_ = attention(p / "cross");
  gain2_ = gain("norm2"), feed_forward_ = FeedForward(p / "ffn", {s.d_model, s.d_ff, s.gated, s.activation});
}

Tensor T5Block::in_heads(const Tensor& x, const Weight& w) const {
  return linear(x, w).reshape({x.dim(0), x.dim(1), spec_.heads, spec_.head_dim});
}

T5Memory T5Block::memory(const Tensor& states, const Ids& lengths) const {
  return {in_heads(states, cross_.key), in_heads(states, cross_.value), lengths};
}

Tensor T5Block::attend(const Tensor& y, const T5LayerPass& pass) const {
  const LayerPass& at = pass.self;
  const auto activation = [&](const char* part, Tensor z) { return expose(at.trace, name_, part, std::move(z)); };
  Tensor q = activation(".attention.query", in_heads(y, self_.query));
  if (pass.query_factor != 1) q = q * pass.query_factor;
  KeyValueCache::Entries all{activation(".attention.key", in_heads(y, self_.key)),
                             activation(".attention.value", in_heads(y, self_.value)), y};
  if (pass.cache) all = pass.cache->append(spec_.layer, all);
  const Span span{.causal = spec_.decoder, .offset = all.k.dim(1) - y.dim(1), .key_lengths = pass.lengths};
  const Heads heads = at.temperature({q, all.k, y, all.x}, at.positions, span);
  const Tensor mixed = poslab::attend(name_, at, heads, all.v, span);
  return activation(".attention.added", linear(mixed.reshape({y.dim(0), y.dim(1), -1}), self_.output));
}

// Sequences that share a memory are read as one long sequence of queries, since no query sees another.
Tensor T5Block::attend_memory(const Tensor& y, const T5LayerPass& pass) const {
  const T5Memory& m = *pass.memory;
  const int S = m.k.dim(0), queries = y.dim(0) / S * y.dim(1);
  Scores s;
  s.pieces = {{in_heads(y, cross_.query).reshape({S, queries, spec_.heads, spec_.head_dim}), m.k}};
  if (!spec_.unscaled) s.scale = real(1 / std::sqrt(double(spec_.head_dim)));
  const Span span{.key_lengths = m.lengths};
  const Tensor heads = reweigh(
      pass.self.trace, name_ + ".cross.weights", [&] { return attention_weights(s, span); },
      poslab::attention(s, m.v, span), m.v);
  const Tensor mixed = expose(pass.self.trace, name_, ".cross.heads", heads);
  const Tensor z = linear(mixed.reshape({y.dim(0), y.dim(1), -1}), cross_.output);
  return expose(pass.self.trace, name_, ".cross.added", z);
}

ResidualNorm T5Block::operator()(const ResidualNorm& in, const Tensor& next_gain, const T5LayerPass& pass) const {
  Dropout drop = pass.self.dropout;
  const auto add = [&](const ResidualNorm& to, const Tensor& z, const Tensor& gain, const char* name) {
    const ResidualNorm sum = residual_rms_norm(to.s, z, gain, spec_.epsilon, drop);
    ++drop.stream.site;
    return expose(pass.self.trace, name_, name, sum, gain, spec_.epsilon);
  };
  ResidualNorm h = add(in, attend(in.y, pass), spec_.decoder ? gain_cross_ : gain2_, ".attention.out");
  if (spec_.decoder) h = add(h, attend_memory(h.y, pass), gain2_, ".cross.out");
  return add(h, expose(pass.self.trace, name_, ".ffn.added", feed_forward_(h.y)), next_gain, ".out");
}

}  // namespace poslab
