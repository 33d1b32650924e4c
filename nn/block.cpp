#include "nn/block.h"

#include <cmath>

#include "nn/traced.h"

namespace poslab {
namespace {

// The default of the library that the released code uses: N(0, 1/in) cut off at two standard deviations (spec B.3).
Tensor draw_weights(const Params& p, const char* name, int in, int out) {
  return p.truncated_normal(name, {in, out}, 1 / std::sqrt(double(in)));
}

}  // namespace

EncoderBlock::EncoderBlock(Params p, BlockSpec s) : spec_(s) {
  const int C = s.d_model, d_ff = s.ffn_multiplier * C;
  const Params a = p / "attention", n1 = p / "norm1", f = p / "ffn", n2 = p / "norm2";
  w_.query = draw_weights(a, "query", C, C), w_.key = draw_weights(a, "key", C, C);
  w_.value = draw_weights(a, "value", C, C), w_.output = draw_weights(a, "output", C, C);
  w_.gain1 = n1.full("gain", {C}, 1), w_.bias1 = n1.full("bias", {C}, 0);
  w_.w1 = draw_weights(f, "w1", C, d_ff), w_.b1 = f.full("b1", {d_ff}, 0);
  w_.w2 = draw_weights(f, "w2", d_ff, C), w_.b2 = f.full("b2", {C}, 0);
  w_.gain2 = n2.full("gain", {C}, 1), w_.bias2 = n2.full("bias", {C}, 0);
}

Tensor EncoderBlock::operator()(const BlockInput& in, int num_queries, const LayerPass& pass) const {
  const int B = in.x.dim(0), T = in.x.dim(1), H = spec_.heads, D = spec_.d_model / H;
  const auto heads_of = [&](const char* part, const Tensor& z) {
    return expose(pass.trace, name(pass), part, z.reshape({B, z.dim(1), H, D}));
  };
  const auto attended = [&]() -> Attended {
    const Tensor x = num_queries == T ? in.x : slice(in.x, 1, T - num_queries, T);
    const Tensor q = heads_of(".attention.query", num_queries == T ? in.project(w_.query) : linear(x, w_.query));
    const Tensor k = heads_of(".attention.key", in.project(w_.key));
    const Tensor v = heads_of(".attention.value", in.project(w_.value));
    const Span span{.causal = spec_.causal, .offset = T - num_queries};
    const Heads heads = pass.temperature({q, k, x, in.x}, pass.positions, span);
    return {x, attend(name(pass), pass, heads, v, span, in.terms).reshape(x.shape())};
  };
  if (const Tensor y = fused_block(in, w_, {H, num_queries, spec_.causal}, pass, attended)) return y;
  const auto [x, mixed] = attended();
  return after_attention(x, mixed, pass);
}

Tensor EncoderBlock::after_attention(const Tensor& x, const Tensor& mixed, const LayerPass& pass) const {
  const Dropout drop1 = pass.dropout, drop2 = pass.second_dropout();
  const auto activation = [&](const char* at, Tensor z) { return expose(pass.trace, name(pass), at, std::move(z)); };
  const Tensor a = activation(".attention.added", linear(mixed, w_.output));
  const Tensor h = activation(".attention.out", residual_norm(x, a, w_.gain1, w_.bias1, drop1));
  const Tensor f = activation(".ffn.added", feed_forward(h, w_.w1, w_.b1, w_.w2, w_.b2));
  return activation(".out", residual_norm(h, f, w_.gain2, w_.bias2, drop2));
}

}  // namespace poslab
