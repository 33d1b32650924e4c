// The module's files share these conversions of Python's values to the engine's. Every op accepts tensors, arrays
// of NumPy or DLPack, lists and numbers; a wrong argument raises ValueError with the engine's message.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "core/error.h"
#include "core/names.h"
#include "core/tensor.h"

namespace poslab::python {

namespace nb = nanobind;
using namespace nb::literals;

inline bool anything(PyObject*) { return true; }
// Types of arguments for tensor_of and ids_of; Python's signatures say "object".
struct TensorLike : nb::object {
  NB_OBJECT_DEFAULT(TensorLike, nb::object, "object", anything)
};
struct IdsLike : nb::object {
  NB_OBJECT_DEFAULT(IdsLike, nb::object, "object", anything)
};

nb::module_ numpy();
std::string type_of(nb::handle);  // "ndarray"
std::string text_of(nb::handle);  // the result of str()
// The nearest float32; infinity and NaN are unchanged. Throws BadInput for a finite number beyond its range.
real real_of(double x, const char* what);
// A Tensor unchanged, a number as shape (1), or a copy of an array or a nested list as float32. Throws BadInput.
Tensor tensor_of(nb::handle);
Tensor tensor_or_absent(nb::handle);                            // None is the empty Tensor
Ids ids_of(nb::handle);                                         // whole numbers; None is the empty Ids. Throws BadInput
// Positions as float64, and their shape. Throws BadInput if there are none, or if they require a gradient.
std::pair<Shape, std::vector<double>> positions_of(nb::handle);
nb::object array_of(const Ids&);                                // a new NumPy array of int32
nb::object array_of(const Shape&, const std::vector<double>&);  // a new NumPy array of float64
int int_of(int64_t n, const char* what);                        // throws BadInput beyond 32 bits
// Whole numbers within sensible limits. Throw BadInput.
void limit(const char* name, int value, int most);
void limit_shape(int heads, int d_model, int layers);

// The value of a word in a short list. Throws BadInput with a "did you mean".
template <class Value>
Value word_of(const char* kind, const std::string& text, const std::vector<std::pair<std::string, Value>>& words) {
  std::vector<std::string> names;
  for (const auto& [name, value] : words) {
    if (name == text) return value;
    names.push_back(name);
  }
  raise<BadInput>(unknown(kind, text, names));
}

Tensor indexed(const Tensor& x, nb::handle index);  // x[index]

void add_tensor(nb::module_&);
void add_ops(nb::module_&);
void add_lists(nb::module_&);
void add_encodings(nb::module_&);
void add_tasks(nb::module_&);
void add_runs(nb::module_&);
void add_sweeps(nb::module_&);
void add_pages(nb::module_&);
void add_own(nb::module_&);
void add_own_task(nb::module_&);
void add_model(nb::module_&);
void shorten_errors(nb::handle scope);  // for all functions of a module or a class

}  // namespace poslab::python
