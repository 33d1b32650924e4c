// y = h w2 + b2, h = act(a) c, a = x w1 + b1, c = x w3 + b3 (Shazeer 2020): the feed-forward network of LLaMA (silu)
// and T5 v1.1 (gelu_tanh).
//   dh = dy w2^T   da = dh c act'(a)   dc = dh act(a)
//   dx = da w1^T + dc w3^T   dw1 = x^T da   dw3 = x^T dc   dw2 = h^T dy   db1, db3, db2: sums of the rows of da, dc, dy
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {

Tensor gated_feed_forward(const Tensor& x, const GatedWeights& w, Activation gate) {
  const auto shape_of = [](const Tensor& t) { return t ? to_string(t.shape()) : "absent"; };
  const auto is = [](const Tensor& t, const Shape& shape) { return t && t.shape() == shape; };
  const bool fits = w.w1 && w.w1.dims() == 2 && x.dim(-1) == w.w1.dim(0) && is(w.w3, w.w1.shape()) && w.w2 &&
                    w.w2.dims() == 2 && w.w2.dim(0) == w.w1.dim(1) && (!w.b1 || is(w.b1, {w.w1.dim(1)})) &&
                    (!w.b3 || is(w.b3, {w.w1.dim(1)})) && (!w.b2 || is(w.b2, {w.w2.dim(1)}));
  if (!fits)
    bad_input(
        "gated_feed_forward: x is {}, w1 {}, b1 {}, w3 {}, b3 {}, w2 {}, b2 {}; "
        "they must be (..., in), (in, d_ff), (d_ff), (in, d_ff), (d_ff), (d_ff, out), (out); biases may be absent",
        shape_of(x), shape_of(w.w1), shape_of(w.b1), shape_of(w.w3), shape_of(w.b3), shape_of(w.w2), shape_of(w.b2));
  const Kernels& run = kernels(x.device());
  const int d_ff = w.w1.dim(1), rows = int(x.rows());
  const GatedArgs args{.rows = rows, .in = x.dim(-1), .d_ff = d_ff, .out = w.w2.dim(1), .gate = gate, .x = x.data(),
                       .w1 = w.w1.data(), .b1 = w.b1.data(), .w3 = w.w3.data(), .b3 = w.b3.data(),
                       .w2 = w.w2.data(), .b2 = w.b2.data()};
  Shape shape = x.shape();
  shape.back() = args.out;
  Tensor y(shape, x.device()), a({rows, d_ff}, x.device()), c({rows, d_ff}, x.device());
  run.gated_feed_forward(y.data(), a.data(), c.data(), args);
  return record("gated_feed_forward", y, {x, w.w1, w.b1, w.w3, w.b3, w.w2, w.b2}, [=, &run](const real* dy) {
    const auto [dx, dw1, db1, dw3, db3, dw2, db2] = grad_accumulators(x, w.w1, w.b1, w.w3, w.b3, w.w2, w.b2);
    run.gated_feed_forward_backward({dx, dw1, db1, dw3, db3, dw2, db2}, dy, a.data(), c.data(), args);
  });
}

}  // namespace poslab
