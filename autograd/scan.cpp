// y_j = the sum of x_k over k <= j along an axis;   dx_k = the sum of dy_j over j >= k: the scan in the other direction
#include "autograd/ops.h"
#include "autograd/strided_loop.h"
#include "autograd/tape.h"

namespace poslab {

Tensor scan(const Tensor& x, int axis, ScanOrder order) {
  const int at = checked_axis("scan", x, axis), n = x.dim(at);
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < x.dims(); ++d) (d < at ? outer : inner) *= d == at ? 1 : x.dim(d);
  const Kernels& run = kernels(x.device());
  Tensor y(x.shape(), x.device());
  run.scan({y.data(), true}, x.data(), outer, n, inner, order);
  return record("scan", y, {x}, [=, &run](const real* dy) {
    const ScanOrder back{order.exclusive, !order.reverse};
    run.scan(x.grad_accumulator(), dy, outer, n, inner, back);
  });
}

}  // namespace poslab
