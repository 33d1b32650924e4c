// Strides, one per dimension: they describe broadcasting, reduction and permutation to the arithmetic kernels.
#pragma once
#include "core/kernels.h"
#include "core/tensor.h"

namespace poslab {

using Strides = std::vector<int64_t>;

Strides dense(const Shape& x);                              // row-major: (4, 5, 6) -> 30, 6, 1
Strides broadcast_strides(const Shape& x, const Shape& over);  // dense strides of x, 0 where x repeats to fill `over`
Shape broadcast(const char* op, const Shape& a, const Shape& b);   // the shape that both repeat to fill; BadInput

// The loop over `size` with these strides of y, a and b. Drops dimensions of size 1 and merges dimensions that are
// contiguous in all arrays, so that inner runs are long. Throws BadInput if more than StridedLoop::max_dims remain.
StridedLoop strided_loop(const Shape& size, const Strides& y, const Strides& a, const Strides& b);
inline StridedLoop strided_loop(const Shape& size, const Strides& y, const Strides& a) {
  return strided_loop(size, y, a, Strides(size.size()));
}

// The axis as 0 .. dims-1. Throws BadInput if x has no such axis.
int checked_axis(const char* op, const Tensor& x, int axis);

}  // namespace poslab
