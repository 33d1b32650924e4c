// The composed twins: the fused ops of autograd/ops.h, with the same arguments, written with primitive ops as in a
// textbook. They are the reference of the fused kernels, and schemes that read whole logits run through them.
#pragma once
#include "autograd/ops.h"

namespace poslab::composed {

Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b);
Tensor feed_forward(const Tensor& x, const Tensor& w1, const Tensor& b1, const Tensor& w2, const Tensor& b2);
Tensor gated_feed_forward(const Tensor& x, const GatedWeights&, Activation);
Tensor norm(const Tensor& x, const Tensor& gain, const Tensor& bias);
Tensor rms_norm(const Tensor& x, const Tensor& gain, double epsilon);
ResidualNorm residual_rms_norm(const Tensor& x, const Tensor& z, const Tensor& gain, double epsilon, Dropout);
Tensor scan(const Tensor& x, int axis, ScanOrder);
Tensor interpolate(const Tensor& table, const Tensor& places);
TopK top_k(const Tensor& x, int k);
Tensor residual_norm(const Tensor& x, const Tensor& z, const Tensor& gain, const Tensor& bias, Dropout);
Tensor cross_entropy(const Tensor& logits, const Ids& targets);
Tensor logits(const Scores&, const Span&);                             // (B, H, Tq, Tk), -infinity where masked
Tensor mix(const Tensor& weights, const Tensor& v);  // sum_j a_ij v_j: (B, H, Tq, Tk), (B, Tk, G, D) -> (B, Tq, H, D)
Tensor attention(const Scores&, const Tensor& v, const Span&);         // (B, Tq, H, Dv)
Tensor geometric(const Tensor& z, const Tensor& side, const Span&);  // (B, H, Tq, Tk), (B, H, Tq, 2) -> (B, H, Tq, Tk)

}  // namespace poslab::composed
