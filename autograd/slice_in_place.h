// A part of a batch without a copy of it.
#pragma once
#include "core/tensor.h"

namespace poslab {

// slice(x, 0, from, to) where it lies, on a CPU: x's memory is y's too, so it is for what nobody will write to.
Tensor slice_in_place(const Tensor& x, int from, int to);

}  // namespace poslab
