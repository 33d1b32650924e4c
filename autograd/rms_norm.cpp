// RMSNorm over the last axis (Zhang and Sennrich 2019):  y = gain x / rms, rms = sqrt(mean(x^2) + epsilon)
//   h = x / rms, g = dy gain:   dx = (g - h mean(g h)) / rms     dgain = sum dy h
#include <cmath>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {

Tensor rms_norm(const Tensor& x, const Tensor& gain, double epsilon) {
  const int n = x.dim(-1);
  if (gain.shape() != Shape{n})
    bad_input("rms_norm: x is {}, gain {}; gain must be ({})", to_string(x.shape()), to_string(gain.shape()), n);
  if (!(epsilon > 0 && std::isfinite(real(epsilon))))
    bad_input("rms_norm: epsilon is {}; it must be above 0, for example 1e-6", epsilon);
  const Kernels& run = kernels(x.device());
  Tensor y(x.shape(), x.device());
  run.rms_norm(y.data(), x.data(), gain.data(), x.rows(), n, real(epsilon));
  return record("rms_norm", y, {x, gain}, [=, &run](const real* dy) {
    const auto [dx, dgain] = grad_accumulators(x, gain);
    run.rms_norm_backward(dx, dgain, dy, x.data(), gain.data(), x.rows(), n, real(epsilon));
  });
}

}  // namespace poslab
