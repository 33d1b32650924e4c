// y_ij = exp(x_ij) / sum_k exp(x_ik) over the last axis;   dx_ij = y_ij (dy_ij - sum_k dy_ik y_ik)
#include "autograd/ops.h"
#include "autograd/tape.h"

namespace poslab {

Tensor softmax(const Tensor& x) {                             // x, y: (..., n)
  const Kernels& run = kernels(x.device());
  Tensor y(x.shape(), x.device());
  run.softmax(y.data(), x.data(), x.rows(), x.dim(-1));
  return record("softmax", y, {x}, [&run, x, y](const real* dy) {
    run.softmax_backward(x.grad_accumulator(), dy, y.data(), x.rows(), x.dim(-1));
  });
}

}  // namespace poslab
