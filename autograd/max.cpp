// y_i = max_j x_ij. The gradient goes to the first j that attains the maximum.
#include "autograd/ops.h"
#include "autograd/tape.h"

namespace poslab {

Tensor max(const Tensor& x) {                                 // (..., n) -> (..., 1)
  const Kernels& run = kernels(x.device());
  Shape shape = x.shape();
  shape.back() = 1;
  Tensor y(shape, x.device());
  Tensor at(shape, x.device());                               // column numbers, in memory of the pool for reals
  int* column = reinterpret_cast<int*>(at.data());
  run.max(y.data(), column, x.data(), x.rows(), x.dim(-1));
  return record("max", y, {x}, [&run, x, at, column](const real* dy) {
    run.max_backward(x.grad_accumulator(), dy, column, x.rows(), x.dim(-1));
  });
}

}  // namespace poslab
