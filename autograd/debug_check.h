// The output of POSLAB_DEBUG (core/debug.h): a line for each op, and at 4 the check that names the op that made the
// first NaN or infinity. The observers of the tape (autograd/observe.h) call these. They check results and gradients.
// The -infinity of a masked logit within attention is neither; one that an op reads or makes
// (composed::causal_mask) counts.
#pragma once
#include <vector>

#include "core/tensor.h"

namespace poslab {

// Throws Failure if a result has a NaN or infinity, and says which one and which of the inputs had one already.
void check_forward(const char* op, const std::vector<Tensor>& results, const std::vector<Tensor>& inputs);

// The same for the gradients that have flowed into the inputs, once the op's backward function has run.
void check_backward(const char* op, const std::vector<Tensor>& results, const std::vector<Tensor>& inputs);

}  // namespace poslab
