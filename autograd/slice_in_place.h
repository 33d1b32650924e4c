// Part of a batch, without a copy.
#pragma once
#include "core/tensor.h"

namespace poslab {

// slice(x, 0, from, to) with its gradient. On a CPU the result shares x's memory, so neither may be written afterwards.
Tensor slice_in_place(const Tensor& x, int from, int to);

}  // namespace poslab
