// y[i_0, i_1, ...] = x[i's in another order]: dim d of y is dim order[d] of x. The gradient is permuted back.
#include <numeric>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "autograd/strided_loop.h"
#include "core/error.h"

namespace poslab {

Tensor permute(const Tensor& x, const std::vector<int>& order) {
  std::vector<int> sorted = order, all(size_t(x.dims()));
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all)
    bad_input("permute: order ({}) does not name each of the {} dimensions of {} exactly once", fmt::join(order, ", "),
              x.dims(), to_string(x.shape()));
  const Kernels& run = kernels(x.device());
  const Strides from = dense(x.shape());
  Shape shape;
  Strides strides;                                                // strides of x, in the order of y
  for (int d : order) shape.push_back(x.shape()[size_t(d)]), strides.push_back(from[size_t(d)]);
  Tensor y(shape, x.device());
  run.copy({y.data(), true}, x.data(), strided_loop(shape, dense(shape), strides));
  return record("permute", y, {x}, [&run, x, shape, strides](const real* dy) {
    if (Accumulator dx = x.grad_accumulator()) run.copy(dx, dy, strided_loop(shape, strides, dense(shape)));
  });
}

Tensor transpose(const Tensor& x) {                           // (..., m, n) -> (..., n, m)
  if (x.dims() < 2) bad_input("transpose: {} has no two dimensions to exchange", to_string(x.shape()));
  std::vector<int> order(size_t(x.dims()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return permute(x, order);
}

}  // namespace poslab
