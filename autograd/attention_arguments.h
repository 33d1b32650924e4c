// The arguments of attention's kernels, made of the tensors of an encoding: shapes, sizes, the rows of each pair. Both
// functions throw BadInput, naming the tensor and its shape, where two of them do not fit together.
#pragma once
#include "autograd/ops.h"

namespace poslab {

// AttentionArgs point into the tensors, which must live as long. v: (B, Tk, G, Dv), or absent where only weights are
// wanted.
AttentionArgs attention_arguments(const Scores&, const Tensor& v, const Span&);
// Throws BadInput unless v is present and the biases have the shapes of q and q_rel.
void check_values(const Scores&, const Tensor& v, const QueryBiases&);

}  // namespace poslab
