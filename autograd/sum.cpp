// y_i = sum_j x_ij over one axis; the gradient repeats along it: dx_ij = dy_i.
#include <limits>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "autograd/strided_loop.h"

namespace poslab {

Tensor sum(const Tensor& x, int axis) {                       // (..., n, ...) -> (..., 1, ...)
  const Kernels& run = kernels(x.device());
  Shape shape = x.shape();
  shape[size_t(checked_axis("sum", x, axis))] = 1;
  Tensor y(shape, x.device());
  run.sum({y.data(), true}, x.data(), strided_loop(x.shape(), broadcast_strides(shape, x.shape()), dense(x.shape())));
  return record("sum", y, {x}, [&run, x, shape](const real* dy) {
    if (Accumulator dx = x.grad_accumulator())
      run.copy(dx, dy, strided_loop(x.shape(), dense(x.shape()), broadcast_strides(shape, x.shape())));
  });
}

Tensor mean(const Tensor& x, int axis) {
  const int along = checked_axis("mean", x, axis);      // here, so that an error names the mean
  return sum(x, along) * (1.0 / x.dim(along));
}

Tensor sum_all(const Tensor& x) {
  return x.size() <= std::numeric_limits<int>::max() ? sum(x.reshape({-1}), 0) : sum_all(sum(x, -1));
}

}  // namespace poslab
