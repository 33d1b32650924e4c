// y = x w + b; w is stored (in, out).
//   dx = dy w^T      dw = x^T dy      db = sum of the rows of dy
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {

Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b) {
  if (w.dims() != 2 || x.dim(-1) != w.dim(0))
    bad_input("linear: x is {}, w is {}; w must be (in, out) with in = the last size of x", to_string(x.shape()),
              to_string(w.shape()));
  if (b && b.shape() != Shape{w.dim(1)})
    bad_input("linear: b is {}, w is {}; b must be (out)", to_string(b.shape()), to_string(w.shape()));
  const Kernels& run = kernels(x.device());
  const int64_t rows = x.rows();
  const int in = w.dim(0), out = w.dim(1);
  Shape shape = x.shape();
  shape.back() = out;
  Tensor y(shape, x.device());
  run.linear(y.data(), x.data(), w.data(), b.data(), rows, in, out);
  return record("linear", y, {x, w, b}, [=, &run](const real* dy) {
    const auto [dx, dw, db] = grad_accumulators(x, w, b);
    run.linear_backward(dx, dw, db, dy, x.data(), w.data(), rows, in, out);
  });
}

}  // namespace poslab
