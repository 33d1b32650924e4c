#include "nn/feed_forward.h"

#include <algorithm>
#include <cmath>

namespace poslab {
namespace {

Tensor activate(Activation activation, const Tensor& x) {
  switch (activation) {
    case Activation::relu:
      return relu(x);
    case Activation::silu:
      return silu(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
  }
  return x;
}

}  // namespace

FeedForward::FeedForward(const Params& p, FeedForwardSpec s) : spec_(s) {
  const double in = 1 / std::sqrt(double(s.d_model));
  w1_ = weight(p, "w1", s.d_model, s.d_ff, in);
  if (s.gated) w3_ = weight(p, "w3", s.d_model, s.d_ff, in);
  w2_ = weight(p, "w2", s.d_ff, s.d_model, s.output_scale / std::sqrt(double(s.d_ff)));
}

Tensor FeedForward::fused(const Tensor& x) const {
  if (spec_.gated) return gated_feed_forward(x, {.w1 = w1_.own, .w3 = w3_.own, .w2 = w2_.own}, spec_.activation);
  if (spec_.activation != Activation::relu) return linear(activate(spec_.activation, linear(x, w1_)), w2_);
  const auto no_bias = [&](int n) { return Tensor::full({n}, 0, x.device()); };
  return feed_forward(x, w1_.own, no_bias(spec_.d_ff), w2_.own, no_bias(spec_.d_model));
}

// With stored weights, computes some slots at a time, so that a long text's hidden layer need not fit into memory.
Tensor FeedForward::operator()(const Tensor& x) const {
  if (!w1_.stored) return fused(x);
  constexpr int part = 1024;
  std::vector<Tensor> parts;
  for (int from = 0; from < x.dim(1); from += part) {
    const Tensor some = x.dim(1) <= part ? x : slice(x, 1, from, std::min(from + part, x.dim(1)));
    Tensor h = activate(spec_.activation, linear(some, w1_));
    if (spec_.gated) h = h * linear(some, w3_);
    parts.push_back(linear(h, w2_));
  }
  return parts.size() == 1 ? parts[0] : concat(parts, 1);
}

}  // namespace poslab
