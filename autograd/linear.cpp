// y = act(x w + b), act the identity or max(., 0); w is stored (in, out).
//   dh = dy [y > 0]      dx = dh w^T      dw = x^T dh      db = sum of the rows of dh
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {

Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b, Activation activation) {
  if (w.dims() != 2 || x.dim(-1) != w.dim(0))
    bad_input("linear: x is {}, w is {}; w must be (in, out) with in = the last size of x", to_string(x.shape()),
              to_string(w.shape()));
  if (b && b.shape() != Shape{w.dim(1)})
    bad_input("linear: b is {}, w is {}; b must be (out)", to_string(b.shape()), to_string(w.shape()));
  const Kernels& run = kernels(x.device());
  const int64_t rows = x.rows();
  const int in = w.dim(0), out = w.dim(1);
  const bool relu = activation == Activation::relu;
  Shape shape = x.shape();
  shape.back() = out;
  Tensor y(shape, x.device());
  run.linear(y.data(), x.data(), w.data(), b.data(), rows, in, out, relu);
  return record("linear", y, {x, w, b}, [=, &run, kept = relu ? y : Tensor()](const real* dy) {
    const auto [dx, dw, db] = grad_sums(x, w, b);
    run.linear_backward(dx, dw, db, dy, x.data(), w.data(), kept.data(), rows, in, out);
  });
}

}  // namespace poslab
