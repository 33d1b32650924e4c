// Makes the arguments of attention's kernels from the tensors of an encoding. If two tensors do not fit together, both
// functions throw BadInput, which names the tensor and its shape.
#pragma once
#include "autograd/ops.h"

namespace poslab {

// The result points into the tensors, which must outlive it. v: (B, Tk, G, Dv), or absent where only the weights are
// computed.
AttentionArgs attention_arguments(const Scores&, const Tensor& v, const Span&);
// Throws BadInput unless v is present and the biases have the shapes of q and q_rel.
void check_values(const Scores&, const Tensor& v, const QueryBiases&);

}  // namespace poslab
