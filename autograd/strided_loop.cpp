#include "autograd/strided_loop.h"

#include "core/error.h"

namespace poslab {

Strides dense(const Shape& x) {
  Strides strides(x.size());
  int64_t step = 1;
  for (size_t d = x.size(); d-- > 0; step *= x[d]) strides[d] = step;
  return strides;
}

Strides broadcast_strides(const Shape& x, const Shape& over) {
  Strides own = dense(x), strides(over.size());
  for (size_t d = 0; d < x.size(); ++d) strides[over.size() - x.size() + d] = x[d] == 1 ? 0 : own[d];
  return strides;
}

Shape broadcast(const char* op, const Shape& a, const Shape& b) {
  const Shape& longer = a.size() < b.size() ? b : a;
  const Shape& shorter = a.size() < b.size() ? a : b;
  Shape y = longer;
  for (size_t d = 0; d < shorter.size(); ++d) {
    int& size = y[longer.size() - shorter.size() + d];
    if (shorter[d] != size && shorter[d] != 1 && size != 1)
      bad_input("{}: {} and {} do not broadcast; from the right, sizes must be equal or 1", op, to_string(a),
                to_string(b));
    if (size == 1) size = shorter[d];
  }
  return y;
}

StridedLoop strided_loop(const Shape& size, const Strides& y, const Strides& a, const Strides& b) {
  StridedLoop loop;
  for (size_t d = 0; d < size.size(); ++d) {
    if (size[d] == 1) continue;
    const int last = loop.dims - 1;
    if (loop.dims > 0 && loop.y[last] == y[d] * size[d] && loop.a[last] == a[d] * size[d] &&
        loop.b[last] == b[d] * size[d]) {
      loop.size[last] *= size[d];
    } else {
      if (loop.dims == StridedLoop::max_dims)
        bad_input("{}: more than {} dimensions that cannot be joined; reshape first", to_string(size),
                  int(StridedLoop::max_dims));
      loop.size[loop.dims++] = size[d];
    }
    loop.y[loop.dims - 1] = y[d], loop.a[loop.dims - 1] = a[d], loop.b[loop.dims - 1] = b[d];
  }
  return loop;
}

int checked_axis(const char* op, const Tensor& x, int axis) {
  if (axis < -x.dims() || axis >= x.dims()) bad_input("{}: {} has no axis {}", op, to_string(x.shape()), axis);
  return axis < 0 ? axis + x.dims() : axis;
}

}  // namespace poslab
