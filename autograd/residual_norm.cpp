// The end of a post-norm sub-layer:  y = norm(s), s = x + dropout(z)                              x, z, s, y: (..., C)
//   ds as in norm;   dx = ds   dz = ds keep / (1 - rate)
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {

Tensor residual_norm(const Tensor& x, const Tensor& z, const Tensor& gain, const Tensor& bias, Dropout drop) {
  const int n = x.dim(-1);
  if (x.shape() != z.shape())
    bad_input("residual_norm: x is {}, z is {}; they must be equal", to_string(x.shape()), to_string(z.shape()));
  if (gain.shape() != Shape{n} || bias.shape() != Shape{n})
    bad_input("residual_norm: x is {}, gain {}, bias {}; gain and bias must be ({})", to_string(x.shape()),
              to_string(gain.shape()), to_string(bias.shape()), n);
  const Kernels& run = kernels(x.device());
  Tensor y(x.shape(), x.device()), s(x.shape(), x.device());
  run.residual_norm(y.data(), s.data(), x.data(), z.data(), gain.data(), bias.data(), x.rows(), n, drop);
  return record("residual_norm", y, {x, z, gain, bias}, [=, &run](const real* dy) {
    const auto [dx, dz, dgain, dbias] = grad_accumulators(x, z, gain, bias);
    run.residual_norm_backward(dx, dz, dgain, dbias, dy, s.data(), gain.data(), s.rows(), n, drop);
  });
}

}  // namespace poslab
