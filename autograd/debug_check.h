// The output of POSLAB_DEBUG (core/debug.h): a line for each op, and at 4 the check that names the op that made the
// first NaN or infinity in a result or a gradient. The observers of the tape (autograd/observe.h) call these functions.
// An infinity counts in a tensor that an op reads or returns, as composed::logits does, but not where the attention
// kernel masks logits inside.
#pragma once
#include <vector>

#include "core/tensor.h"

namespace poslab {

// Prints the op's line. At 4, throws Failure if a result has a NaN or infinity; names its index and the bad inputs.
void check_forward(const char* op, const std::vector<Tensor>& results, const std::vector<Tensor>& inputs);

// The same for the gradients that have flowed into the inputs, once the op's backward function has run.
void check_backward(const char* op, const std::vector<Tensor>& results, const std::vector<Tensor>& inputs);

}  // namespace poslab
