// The feed-forward network of a block without biases, y = h w2:
//
//   h = act(x w1) * (x w3)        gated (Shazeer 2020): LLaMA with silu, T5 v1.1 with gelu_tanh      x, y: (B, T, C)
//   h = relu(x w1)                without a gate: T5 (Raffel et al. 2020)
//
// Without a gate, the model of an external checkpoint may have an activation other than relu.
#pragma once
#include "autograd/ops.h"
#include "nn/weight.h"

namespace poslab {

struct FeedForwardSpec {
  int d_model, d_ff;
  bool gated;
  Activation activation;
  double output_scale = 1;                              // factor on w2's initial standard deviation
};

class FeedForward {
 public:
  FeedForward() = default;
  // Parameters w1, w3 if it is gated, and w2: N(0, 1 / in), cut off at two standard deviations; in: rows of the matrix.
  FeedForward(const Params&, FeedForwardSpec);
  Tensor operator()(const Tensor& x) const;

 private:
  Tensor fused(const Tensor& x) const;
  FeedForwardSpec spec_{};
  Weight w1_, w3_, w2_;                          // (C, d_ff) twice, (d_ff, C); w3 is absent without a gate
};

}  // namespace poslab
