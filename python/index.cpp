// x[index] by the engine's slices and lookups, so that it has a gradient: whole numbers, slices with any step, the
// ellipsis, None and, alone, an array of rows. A dimension indexed by a number is dropped, unless no other is left.
#include <numeric>

#include "autograd/ops.h"
#include "python/convert.h"

namespace poslab::python {
namespace {

Tensor rows(const Tensor& x, const Ids& at) {  // (N, ...), (A, ..., Z) -> (A, ..., Z, ...)
  if (x.dims() > 1) return gather(x, at);
  return gather(x.reshape({-1, 1}), at).reshape(at.shape());
}

Tensor with_first(const Tensor& x, int axis) {  // swaps that axis with the first one
  std::vector<int> order(size_t(x.dims()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[size_t(axis)]);
  return permute(x, order);
}

Tensor sliced(const Tensor& x, int axis, const nb::slice& part) {
  const auto [start, stop, step, length] = part.compute(size_t(x.dim(axis)));
  if (length == 0)
    bad_input("index: an empty slice of axis {} of {}; sizes are at least 1", axis, to_string(x.shape()));
  if (step == 1) return int64_t(length) == x.dim(axis) ? x : slice(x, axis, int(start), int(start) + int(length));
  std::vector<int> at;
  for (int64_t i = 0, n = start; i < int64_t(length); ++i, n += step) at.push_back(int(n));
  return with_first(rows(with_first(x, axis), Ids({int(length)}, at)), axis);
}

int checked(const Tensor& x, int axis, int64_t n) {
  const int64_t size = x.dim(axis), at = n < 0 ? n + size : n;
  if (at < 0 || at >= size)
    throw nb::index_error(fmt::format("index {} is outside axis {} of {}", n, axis, to_string(x.shape())).c_str());
  return int(at);
}

bool is_ellipsis(nb::handle h) { return h.ptr() == Py_Ellipsis; }

}  // namespace

Tensor indexed(const Tensor& x, nb::handle index) {
  const nb::tuple parts = nb::isinstance<nb::tuple>(index) ? nb::borrow<nb::tuple>(index) : nb::make_tuple(index);
  int named = 0;
  for (const nb::handle part : parts) named += !part.is_none() && !is_ellipsis(part);
  if (named > x.dims())
    bad_input("index: {} indices for the {} dimensions of {}", named, x.dims(), to_string(x.shape()));
  Tensor y = x;
  Shape shape;  // axes of the result; y keeps an axis of 1 for each number
  int axis = 0;
  bool ellipsis = false;
  for (const nb::handle part : parts) {
    if (part.is_none()) {
      shape.push_back(1);
    } else if (is_ellipsis(part)) {
      if (std::exchange(ellipsis, true)) bad_input("index: two ellipses; give one");
      for (int rest = x.dims() - named; rest > 0; --rest) shape.push_back(y.dim(axis++));
    } else if (nb::slice s; nb::try_cast(part, s)) {
      y = sliced(y, axis, s);
      shape.push_back(y.dim(axis++));
    } else if (PyIndex_Check(part.ptr()) && !PyBool_Check(part.ptr()) && !nb::hasattr(part, "__len__")) {
      int64_t n = 0;
      if (!nb::try_cast(nb::int_(part), n))
        throw nb::index_error(fmt::format("index {} is outside axis {} of {}", text_of(part), axis,
                                          to_string(x.shape())).c_str());
      const int at = checked(y, axis, n);
      y = y.dim(axis) == 1 ? y : slice(y, axis, at, at + 1);
      ++axis;
    } else if (parts.size() == 1) {
      return rows(x, ids_of(part));
    } else {
      bad_input("index: a {} next to other indices; give it alone, or use pl.gather", type_of(part));
    }
  }
  for (; axis < y.dims(); ++axis) shape.push_back(y.dim(axis));
  return y.reshape(shape.empty() ? Shape{1} : shape);
}

}  // namespace poslab::python
