// y_e = x_e keep_e / (1 - rate). Which elements are kept is a pure function of the stream (core/kernels.h, Dropout), so
// the backward pass draws them again and nothing is stored.
#include "autograd/argument_checks.h"
#include "autograd/ops.h"
#include "autograd/tape.h"

namespace poslab {

Tensor dropout(const Tensor& x, Dropout how) {
  check_rate(how);
  if (how.rate == 0) return x;
  const Kernels& run = kernels(x.device());
  Tensor y(x.shape(), x.device());
  run.dropout({y.data(), true}, x.data(), x.size(), how);
  return record("dropout", y, {x}, [&run, x, how](const real* dy) {
    if (Accumulator dx = x.grad_accumulator()) run.dropout(dx, dy, x.size(), how);
  });
}

}  // namespace poslab
