#include "nn/block.h"

#include <algorithm>
#include <cmath>

#include "autograd/tape.h"

namespace poslab {
namespace {

// The default of the library that the released code uses: N(0, 1/in) cut off at two standard deviations (spec B.3).
Tensor weights(const Params& p, const char* name, int in, int out) {
  return p.truncated_normal(name, {in, out}, 1 / std::sqrt(double(in)));
}

Tensor last_queries(const Tensor& x, int n) {
  return !x || x.dim(1) <= n ? x : slice(x, 1, x.dim(1) - n, x.dim(1));
}

}  // namespace

void trace_attention(const std::string& name, const LayerPass& pass, const Heads& in, const Span& span) {
  if (!pass.trace) return;
  Trace& trace = *pass.trace;
  const NoGrad only_looking;
  const std::string of = name + ".attention.";
  if (trace.wants(of + "weights")) trace.capture(of + "weights", pass.encoding.weights(in, pass.positions, span));
  if (trace.wants(of + "statistics"))
    trace.capture(of + "statistics", pass.encoding.statistics(in, pass.positions, span));
  if (!trace.queries || !trace.wants(of + "logits")) return;
  const int n = std::min(trace.queries, in.q.dim(1));
  const Heads some{last_queries(in.q, n), in.k, last_queries(in.x, n), in.x_keys, last_queries(in.temperature, n)};
  Span of_some = span;
  of_some.offset += in.q.dim(1) - n;
  trace.capture(of + "logits", pass.encoding.logits(some, pass.positions, of_some));
}

EncoderBlock::EncoderBlock(Params p, BlockSpec s) : spec_(s), name_("block" + std::to_string(s.layer)) {
  const int C = s.d_model, d_ff = s.ffn_multiplier * C;
  const Params a = p / "attention", n1 = p / "norm1", f = p / "ffn", n2 = p / "norm2";
  query_ = weights(a, "query", C, C), key_ = weights(a, "key", C, C);
  value_ = weights(a, "value", C, C), output_ = weights(a, "output", C, C);
  gain1_ = n1.full("gain", {C}, 1), bias1_ = n1.full("bias", {C}, 0);
  w1_ = weights(f, "w1", C, d_ff), b1_ = f.full("b1", {d_ff}, 0);
  w2_ = weights(f, "w2", d_ff, C), b2_ = f.full("b2", {C}, 0);
  gain2_ = n2.full("gain", {C}, 1), bias2_ = n2.full("bias", {C}, 0);
}

Tensor EncoderBlock::operator()(const BlockInput& in, int num_queries, const LayerPass& pass) const {
  const Tensor& x = in.x;
  const int B = x.dim(0), T = x.dim(1), H = spec_.heads, D = spec_.d_model / H;
  const Tensor own = num_queries == T ? x : slice(x, 1, T - num_queries, T);
  const Shape queries{B, num_queries, H, D}, keys{B, T, H, D};
  const Tensor q = num_queries == T ? in.project(query_) : linear(own, query_), k = in.project(key_),
               v = in.project(value_);
  const Span span{.causal = spec_.causal, .offset = T - num_queries};
  const Heads heads = pass.temperature({q.reshape(queries), k.reshape(keys), own, x}, pass.positions, span);
  const Tensor mixed = pass.encoding.attend(heads, v.reshape(keys), pass.positions, span).reshape(own.shape());
  const Tensor h = residual_norm(own, linear(mixed, output_), gain1_, bias1_, pass.dropout);
  const Tensor y = residual_norm(h, feed_forward(h, w1_, b1_, w2_, b2_), gain2_, bias2_, pass.second_dropout());
  if (Trace* trace = pass.trace) {
    trace_attention(name_, pass, heads, span);
    trace->capture(name_ + ".attention.out", h);
    trace->capture(name_ + ".out", y);
  }
  return y;
}

}  // namespace poslab
