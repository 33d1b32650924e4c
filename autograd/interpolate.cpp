// y_ij = t_i at the place p_ij, on a straight line between the entries below and above it:
//
//   y_ij = (1 - f) t_i,m + f t_i,m+1,   m = floor(p_ij), f = p_ij - m            outside the row: its nearest entry
//   dt_i,m += (1 - f) dy_ij   dt_i,m+1 += f dy_ij   dp_ij += (t_i,m+1 - t_i,m) dy_ij, 0 outside the row
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {

Tensor interpolate(const Tensor& t, const Tensor& p) {        // (..., N), (..., n) -> (..., n)
  t.device(), p.device();                                     // these throw if one is absent
  const auto leading = [](const Tensor& x) { return Shape(x.shape().begin(), x.shape().end() - 1); };
  if (leading(t) != leading(p))
    bad_input("interpolate: a table {} and places {}; all sizes but the last must be equal", to_string(t.shape()),
              to_string(p.shape()));
  const Kernels& run = kernels(p.device());
  Tensor y(p.shape(), p.device());
  run.interpolate(y.data(), t.data(), p.data(), p.rows(), t.dim(-1), p.dim(-1));
  return record("interpolate", y, {t, p}, [&run, t, p](const real* dy) {
    const auto [dt, dp] = grad_accumulators(t, p);
    run.interpolate_backward(dt, dp, dy, t.data(), p.data(), p.rows(), t.dim(-1), p.dim(-1));
  });
}

}  // namespace poslab
