// Slices along an axis, and their inverse, the joining of tensors along an axis.
#include "autograd/ops.h"
#include "autograd/slice_in_place.h"
#include "autograd/strided_loop.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {

namespace {

void check_run(const Tensor& x, size_t axis, int from, int to) {
  if (from < 0 || from >= to || to > x.shape()[axis])
    bad_input("slice: {} .. {} is not a range of axis {} of {}", from, to, axis, to_string(x.shape()));
}

// dx is dy in the part of x that y copies, 0 elsewhere                                        dy: (shape)
Tensor record_part(const Tensor& y, const Tensor& x, int64_t offset) {
  return record("slice", y, {x}, [x, shape = y.shape(), offset](const real* dy) {
    Accumulator dx = x.grad_accumulator();
    if (!dx) return;
    const Kernels& run = kernels(x.device());
    const Strides strides = dense(x.shape());
    if (dx.empty) {
      const Tensor zero = Tensor::full({1}, 0, x.device());
      run.copy(dx, zero.data(), strided_loop(x.shape(), strides, Strides(strides.size())));
    }
    run.copy({dx.at + offset, false}, dy, strided_loop(shape, strides, dense(shape)));
  });
}

}  // namespace

// y = x[from .. to-1]                                                    (..., n, ...) -> (..., to - from, ...)
Tensor slice(const Tensor& x, int axis, int from, int to) {
  const size_t at = size_t(checked_axis("slice", x, axis));
  check_run(x, at, from, to);
  const Strides strides = dense(x.shape());
  const int64_t offset = from * strides[at];
  Shape shape = x.shape();
  shape[at] = to - from;
  Tensor y(shape, x.device());
  kernels(x.device()).copy({y.data(), true}, x.data() + offset, strided_loop(shape, dense(shape), strides));
  return record_part(y, x, offset);
}

Tensor slice_in_place(const Tensor& x, int from, int to) {
  if (x.device() != Device::cpu) return slice(x, 0, from, to);
  check_run(x, 0, from, to);
  const int64_t offset = from * dense(x.shape())[0];
  Shape shape = x.shape();
  shape[0] = to - from;
  return record_part(Tensor::wrap(shape, x.data() + offset, std::make_shared<const Tensor>(x)), x, offset);
}

// y = parts one after the other; each part's gradient is its part of dy
Tensor concat(const std::vector<Tensor>& parts, int axis) {
  if (parts.empty()) bad_input("concat: no tensors to join");
  const size_t at = size_t(checked_axis("concat", parts[0], axis));
  Shape shape = parts[0].shape();
  shape[at] = 0;
  for (const Tensor& part : parts) {
    Shape rest = part.shape(), first = parts[0].shape();
    if (rest.size() == first.size()) shape[at] += rest[at], rest[at] = first[at];
    if (rest != first)
      bad_input("concat: {} and {} differ outside axis {}", to_string(first), to_string(part.shape()), at);
  }
  const Kernels& run = kernels(parts[0].device());
  const Strides strides = dense(shape);
  Tensor y(shape, parts[0].device());
  int64_t offset = 0;
  for (const Tensor& part : parts) {
    run.copy({y.data() + offset, true}, part.data(), strided_loop(part.shape(), strides, dense(part.shape())));
    offset += part.shape()[at] * strides[at];
  }
  return record("concat", y, std::vector<Input>(parts.begin(), parts.end()), [=, &run](const real* dy) {
    for (const Tensor& part : parts) {
      if (Accumulator d = part.grad_accumulator())
        run.copy(d, dy, strided_loop(part.shape(), dense(part.shape()), strides));
      dy += part.shape()[at] * strides[at];
    }
  });
}

}  // namespace poslab
