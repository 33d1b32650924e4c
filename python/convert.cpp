#include "python/convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "autograd/tape.h"

namespace poslab::python {

std::string type_of(nb::handle x) { return nb::cast<std::string>(x.type().attr("__name__")); }
std::string text_of(nb::handle x) { return nb::cast<std::string>(nb::str(x)); }
nb::module_ numpy() { return nb::module_::import_("numpy"); }

int int_of(int64_t n, const char* what) {
  if (n != int64_t(int(n))) bad_input("{}: {} does not fit into 32 bits", what, n);
  return int(n);
}

void limit(const char* name, int value, int most) {
  if (value < 1 || value > most) bad_input("{} is {}; give a number from 1 to {}", name, value, most);
}

void limit_shape(int heads, int d_model, int layers) {
  limit("heads", heads, 1024), limit("d_model", d_model, 65536), limit("layers", layers, 1024);
}

namespace {

// An array of this kind of NumPy: "f" floats, "i" and "u" whole numbers, "b" booleans.
nb::object as_array(nb::handle x, const char* what, const std::string& kinds, const char* give) {
  const nb::object array = numpy().attr("asarray")(x);
  const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (kinds.find(kind) == std::string::npos)
    bad_input("{}: cannot read a {} of dtype {}; give {}", what, type_of(x), text_of(array.attr("dtype")), give);
  return array;
}

template <class Array>
Shape shape_of(const Array& a, const char* what) {
  Shape shape;
  for (size_t d = 0; d < a.ndim(); ++d) shape.push_back(int_of(int64_t(a.shape(d)), what));
  return shape;
}

}  // namespace

real real_of(double x, const char* what) {
  const real y = real(x);
  if (std::isinf(y) && std::isfinite(x)) bad_input("{}: {} does not fit into float32; give at most 3.4e38", what, x);
  return y;
}

Tensor tensor_of(nb::handle x) {
  if (nb::isinstance<Tensor>(x)) return nb::cast<Tensor>(x);
  if (PyFloat_Check(x.ptr())) return Tensor::full({1}, real_of(PyFloat_AsDouble(x.ptr()), "Tensor"));
  nb::object array = as_array(x, "Tensor", "fiub", "floats or whole numbers");
  const nb::object dtype = array.attr("dtype");
  if (nb::cast<std::string>(dtype.attr("kind")) == "f" && nb::cast<int>(dtype.attr("itemsize")) > 4) {
    array = numpy().attr("ascontiguousarray")(array, "dtype"_a = "float64");
    const auto wide = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(array);
    const Tensor copy(shape_of(wide, "Tensor"));
    std::transform(wide.data(), wide.data() + wide.size(), copy.data(), [](double v) { return real_of(v, "Tensor"); });
    return copy;
  }
  array = numpy().attr("ascontiguousarray")(array, "dtype"_a = "float32");
  const auto a = nb::cast<nb::ndarray<const float, nb::c_contig, nb::device::cpu>>(array);
  const Tensor copy(shape_of(a, "Tensor"));
  std::memcpy(copy.data(), a.data(), a.nbytes());
  return copy;
}

Tensor tensor_or_absent(nb::handle x) { return x.is_none() ? Tensor() : tensor_of(x); }

Ids ids_of(nb::handle x) {
  if (x.is_none()) return {};
  nb::object array = as_array(x, "ids", "iu", "whole numbers");
  array = numpy().attr("ascontiguousarray")(array);
  if (nb::cast<size_t>(array.attr("size")) == 0) bad_input("there are no ids; give at least one");
  for (const char* end : {"min", "max"}) {
    const nb::object most = array.attr(end)();
    if (int overflow = 0; PyLong_AsLongLongAndOverflow(nb::int_(most).ptr(), &overflow), overflow)
      bad_input("ids: {} does not fit into 32 bits", text_of(most));
    int_of(nb::cast<int64_t>(nb::int_(most)), "ids");
  }
  array = array.attr("astype")("int32");
  const auto a = nb::cast<nb::ndarray<const int32_t, nb::c_contig, nb::device::cpu>>(array);
  return {shape_of(a, "ids"), std::vector<int>(a.data(), a.data() + a.size())};
}

std::pair<Shape, std::vector<double>> positions_of(nb::handle x) {
  if (nb::isinstance<Tensor>(x) && recording() && nb::cast<Tensor>(x).requires_grad())
    bad_input("positions have no gradient, but these require one; give x.detach()");
  const nb::object array =
      numpy().attr("ascontiguousarray")(as_array(x, "positions", "fiu", "numbers"), "dtype"_a = "float64");
  const auto a = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(array);
  if (a.size() == 0) bad_input("positions: there are none; give one for each slot");
  return {shape_of(a, "positions"), std::vector<double>(a.data(), a.data() + a.size())};
}

namespace {

template <class Number>
nb::object new_array(const Shape& shape, const Number* from, size_t count) {
  auto* copy = new std::vector<Number>(from, from + count);
  const nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<Number>*>(p); });
  const std::vector<size_t> sizes(shape.begin(), shape.end());
  return nb::cast(nb::ndarray<nb::numpy, Number>(copy->data(), sizes.size(), sizes.data(), owner));
}

}  // namespace

nb::object array_of(const Ids& ids) { return new_array<int32_t>(ids.shape(), ids.data(), size_t(ids.size())); }
nb::object array_of(const Shape& shape, const std::vector<double>& numbers) {
  return new_array<double>(shape, numbers.data(), numbers.size());
}

}  // namespace poslab::python
