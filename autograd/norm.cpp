// LayerNorm over the last axis:  y = gain (x - mean) / std + bias,   std = sqrt(variance + 1e-5)
//   h = (x - mean) / std, g = dy gain:   dx = (g - mean(g) - h mean(g h)) / std     dgain = sum dy h     dbias = sum dy
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {

Tensor norm(const Tensor& x, const Tensor& gain, const Tensor& bias) {
  const int n = x.dim(-1);
  if (gain.shape() != Shape{n} || bias.shape() != Shape{n})
    bad_input("norm: x is {}, gain {}, bias {}; gain and bias must be ({})", to_string(x.shape()),
              to_string(gain.shape()), to_string(bias.shape()), n);
  const Kernels& run = kernels(x.device());
  Tensor y(x.shape(), x.device());
  run.norm(y.data(), x.data(), gain.data(), bias.data(), x.rows(), n);
  return record("norm", y, {x, gain, bias}, [=, &run](const real* dy) {
    const auto [dx, dgain, dbias] = grad_accumulators(x, gain, bias);
    run.norm_backward(dx, dgain, dbias, dy, x.data(), gain.data(), x.rows(), n);
  });
}

}  // namespace poslab
