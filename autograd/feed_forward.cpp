// y = h w2 + b2, h = max(x w1 + b1, 0): the feed-forward network of a transformer's block (Vaswani et al. 2017, 3.3).
//   dh = dy w2^T [h > 0]     dx = dh w1^T     dw1 = x^T dh     db1 = rows of dh     dw2 = h^T dy     db2 = rows of dy
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {

Tensor feed_forward(const Tensor& x, const Tensor& w1, const Tensor& b1, const Tensor& w2, const Tensor& b2) {
  if (w1.dims() != 2 || w2.dims() != 2 || x.dim(-1) != w1.dim(0) || w1.dim(1) != w2.dim(0) ||
      b1.shape() != Shape{w1.dim(1)} || b2.shape() != Shape{w2.dim(1)})
    bad_input(
        "feed_forward: x is {}, w1 {}, b1 {}, w2 {}, b2 {}; "
        "they must be (..., in), (in, d_ff), (d_ff), (d_ff, out), (out)",
        to_string(x.shape()), to_string(w1.shape()), to_string(b1.shape()), to_string(w2.shape()),
        to_string(b2.shape()));
  const Kernels& run = kernels(x.device());
  const int64_t rows = x.rows();
  const int in = w1.dim(0), d_ff = w1.dim(1), out = w2.dim(1);
  Shape shape = x.shape();
  shape.back() = out;
  Tensor y(shape, x.device()), h({int(rows), d_ff}, x.device());
  run.feed_forward(y.data(), h.data(), x.data(), w1.data(), b1.data(), w2.data(), b2.data(), rows, in, d_ff, out);
  return record("feed_forward", y, {x, w1, b1, w2, b2}, [=, &run](const real* dy) {
    const auto [dx, dw1, db1, dw2, db2] = grad_accumulators(x, w1, b1, w2, b2);
    run.feed_forward_backward(dx, dw1, db1, dw2, db2, dy, x.data(), h.data(), w1.data(), w2.data(), rows, in, d_ff,
                              out);
  });
}

}  // namespace poslab
