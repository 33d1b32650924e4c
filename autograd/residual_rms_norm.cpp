// The step from one pre-norm sub-layer to the next:  s = x + dropout(z), y = rms_norm(s)           x, z, s, y: (..., C)
//   d = ds + the gradient of rms_norm at s;   dx = d   dz = d keep / (1 - rate)
#include <cmath>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {

ResidualNorm residual_rms_norm(const Tensor& x, const Tensor& z, const Tensor& gain, double epsilon, Dropout drop) {
  const int n = x.dim(-1);
  if (x.shape() != z.shape())
    bad_input("residual_rms_norm: x is {}, z is {}; they must be equal", to_string(x.shape()), to_string(z.shape()));
  if (gain.shape() != Shape{n})
    bad_input("residual_rms_norm: x is {}, gain {}; gain must be ({})", to_string(x.shape()), to_string(gain.shape()),
              n);
  if (!(epsilon > 0 && std::isfinite(real(epsilon))))
    bad_input("residual_rms_norm: epsilon is {}; it must be above 0, for example 1e-6", epsilon);
  const Kernels& run = kernels(x.device());
  Tensor s(x.shape(), x.device()), y(x.shape(), x.device());
  run.residual_rms_norm(s.data(), y.data(), x.data(), z.data(), gain.data(), x.rows(), n, real(epsilon), drop);
  record("residual_rms_norm", {s, y}, {x, z, gain}, [=, &run](std::span<const real* const> d) {
    const real *ds = d[0], *dy = d[1];
    const auto [dx, dz, dgain] = grad_accumulators(x, z, dy ? gain : Tensor());   // s alone does not depend on the gain
    run.residual_rms_norm_backward(dx, dz, dgain, ds, dy, s.data(), gain.data(), s.rows(), n, real(epsilon), drop);
  });
  return {s, y};
}

}  // namespace poslab
