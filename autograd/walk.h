// How an op describes broadcasting, reduction and permutation to the arithmetic kernels: steps, one per dimension.
#pragma once
#include "core/kernels.h"
#include "core/tensor.h"

namespace poslab {

using Steps = std::vector<int64_t>;

Steps dense(const Shape& x);                              // (4, 5, 6) -> 30, 6, 1
Steps repeated(const Shape& x, const Shape& over);        // dense steps of x, 0 where x repeats to fill `over`
Shape broadcast(const char* op, const Shape& a, const Shape& b);   // throws BadInput if they do not fit

// Dimensions of size 1 are dropped and those that lie behind one another in all arrays become one, so that kernels see
// long inner runs. Throws BadInput if more than Walk::most remain.
Walk walk(const Shape& size, const Steps& y, const Steps& a, const Steps& b);
inline Walk walk(const Shape& size, const Steps& y, const Steps& a) { return walk(size, y, a, Steps(size.size())); }

// The axis as 0 .. dims-1. Throws BadInput if x has no such axis.
int checked_axis(const char* op, const Tensor& x, int axis);

}  // namespace poslab
