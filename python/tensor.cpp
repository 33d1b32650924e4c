// pl.Tensor: the engine's handle, which shares its memory with arrays of NumPy and DLPack in both directions.
#include <mutex>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "python/convert.h"

namespace poslab::python {
namespace {

// Arrays that no tensor needs any more. An ending thread without the GIL may free a tensor, and could wait forever
// for the GIL; then Python's main thread releases the array.
std::mutex let_go_mutex;
std::vector<PyObject*> to_let_go;
int let_go_of_all(void*) {
  std::vector<PyObject*> all;
  {
    const std::lock_guard lock(let_go_mutex);
    all.swap(to_let_go);
  }
  for (PyObject* array : all) Py_DECREF(array);
  return 0;
}
void let_go(PyObject* array) {
  if (!nb::is_alive()) return;  // Python has ended: nothing can be released
  if (NB_CALL(gil_check)()) {  // nanobind's, because the stable ABI has no PyGILState_Check
    Py_DECREF(array);
    return;
  }
  const std::lock_guard lock(let_go_mutex);
  to_let_go.push_back(array);
  Py_AddPendingCall(let_go_of_all, nullptr);  // if Python refuses because its queue is full, the next call releases all
}

// The memory of a float32 array, which is kept alive. Arrays that cannot be shared are refused with a remedy.
Tensor shared(nb::handle x) {
  nb::object array = nb::borrow(x);
  const nb::object kind = numpy().attr("ndarray");
  if (!nb::isinstance(array, kind)) {
    if (!nb::hasattr(x, "__dlpack__"))
      bad_input(
          "from_numpy: a {} has no memory to share; give an array of NumPy or of DLPack, or make a copy with "
          "Tensor(x)",
          type_of(x));
    array = numpy().attr("from_dlpack")(x);
  }
  const nb::object flags = array.attr("flags");
  const auto is = [&](const char* flag) { return nb::cast<bool>(flags.attr(flag)); };
  const auto refuse = [](const std::string& why) {
    bad_input("from_numpy: the array {}, so its memory cannot be shared; make a copy with Tensor(x)", why);
  };
  if (!array.attr("dtype").equal(numpy().attr("dtype")("float32")))
    refuse(fmt::format("has dtype {} and not float32", text_of(array.attr("dtype"))));
  if (!is("c_contiguous")) refuse("is not contiguous, row by row");
  if (!is("writeable")) refuse("is read-only");
  if (!is("aligned")) refuse("is not aligned to its numbers");
  const auto a = nb::cast<nb::ndarray<float, nb::c_contig, nb::device::cpu>>(array);
  Shape shape;
  for (size_t d = 0; d < a.ndim(); ++d) shape.push_back(int_of(int64_t(a.shape(d)), "from_numpy"));
  if (shape.empty()) shape = {1};
  PyObject* kept = array.release().ptr();
  return Tensor::wrap(shape, a.data(),
                      {kept, [](const void* object) { let_go(static_cast<PyObject*>(const_cast<void*>(object))); }});
}

// An array on the tensor's own memory, which `self` keeps alive.
template <class... Kind>
nb::object view(nb::pointer_and_handle<Tensor> self) {
  if (self.p->device() != Device::cpu)
    bad_input("this tensor is on a GPU, where NumPy cannot read it; use functions of poslab, or device=\"cpu\"");
  const std::vector<size_t> shape(self.p->shape().begin(), self.p->shape().end());
  return nb::cast(nb::ndarray<Kind..., float>(self.p->data(), shape.size(), shape.data(), self.h),
                  nb::rv_policy::reference);
}

nb::object as_numpy(nb::pointer_and_handle<Tensor> self, nb::handle dtype, nb::handle copy) {
  const nb::object array = view<nb::numpy>(self);
  const bool other = !dtype.is_none() && !array.attr("dtype").equal(numpy().attr("dtype")(dtype));
  if (other && !copy.is_none() && !nb::cast<bool>(copy))
    bad_input("a float32 tensor cannot become an array of {} without a copy", text_of(dtype));
  if (other) return array.attr("astype")(dtype);
  return !copy.is_none() && nb::cast<bool>(copy) ? array.attr("copy")() : array;
}

nb::tuple shape_of(const Tensor& x) { return nb::tuple(nb::cast(x.shape())); }

Tensor& require(Tensor& x, bool wanted) {
  if (!wanted && x.requires_grad()) bad_input("requires_grad cannot be switched off; use detach()");
  return wanted ? x.require_grad() : x;
}

// A comparison by NumPy as ones and zeros, without a gradient. Objects that are not arrays of numbers are left to
// Python, which finds them unequal.
nb::object compared(nb::pointer_and_handle<Tensor> a, nb::handle b, const char* by) {
  const bool sequence = PySequence_Check(b.ptr()) && !PyUnicode_Check(b.ptr());
  if (!sequence && !PyNumber_Check(b.ptr()) && !nb::hasattr(b, "__array__")) return nb::borrow(Py_NotImplemented);
  return nb::cast(tensor_of(numpy().attr(by)(view<nb::numpy>(a), nb::cast(tensor_of(b)).attr("numpy")())));
}

std::string text(nb::pointer_and_handle<Tensor> self) {
  const nb::object array = view<nb::numpy>(self);
  const nb::object numbers = numpy().attr("array2string")(array, "separator"_a = ", ", "prefix"_a = "Tensor(");
  return fmt::format("Tensor({}{})", nb::cast<std::string>(numbers),
                     self.p->requires_grad() ? ", requires_grad=True" : "");
}

}  // namespace

void add_tensor(nb::module_& m) {
  using Self = nb::pointer_and_handle<Tensor>;
  nb::class_<Tensor> t(m, "Tensor",
                       "A dense array of float32 with its gradient. Tensor(data) copies numbers, lists and "
                       "arrays;\nfrom_numpy(array) shares their memory. Sizes are at least 1; a single number has "
                       "shape (1,).");
  t.def(
      "__init__",
      [](Tensor* self, TensorLike data, bool requires_grad) {
        Tensor x = tensor_of(data);
        if (nb::isinstance<Tensor>(data)) x = Tensor::from(x.shape(), x.values());
        new (self) Tensor(require(x, requires_grad));
      },
      "data"_a, "requires_grad"_a = false, "A copy of `data`, rounded to float32.");
  t.def_prop_ro("shape", shape_of, "its sizes, a tuple")
      .def_prop_ro("ndim", &Tensor::dims, "the number of dimensions")
      .def_prop_ro("size", &Tensor::size, "the number of values")
      .def_prop_ro(
          "dtype", [](const Tensor&) { return numpy().attr("dtype")("float32"); }, "float32")
      .def_prop_rw(
          "requires_grad", &Tensor::requires_grad, [](Tensor& x, bool wanted) { require(x, wanted); },
          "whether backward() computes d loss / d this")
      .def(
          "require_grad", [](Self x) { return x.p->require_grad(), nb::borrow(x.h); },
          "Asks for a gradient, and returns the tensor itself.")
      .def_prop_ro(
          "grad", [](const Tensor& x) { return x.has_grad() ? nb::cast(x.grad()) : nb::none(); },
          "d loss / d this, a copy of the same shape; None if it has no gradient")
      .def(
          "clear_grad",
          [](const Tensor& x) {
            if (x.requires_grad()) x.clear_grad();
          },
          "Clears the gradient. Without this, backward() adds to the old gradient.")
      .def("backward", backward,
           "Computes the gradients of all tensors that this single number came from, and clears the "
           "tape of this thread.")
      .def("detach", &Tensor::detach, "The same memory without a gradient.")
      .def(
          "reshape",
          [](const Tensor& x, nb::args sizes) {
            const bool one = sizes.size() == 1 && !nb::isinstance<nb::int_>(sizes[0]);
            const nb::object wanted = one ? nb::object(sizes[0]) : nb::object(sizes);
            Shape shape;
            if (!nb::try_cast(wanted, shape))
              bad_input("reshape: {} is not a shape; give whole numbers below 2^31", text_of(wanted));
            return x.reshape(shape);
          },
          "sizes"_a, "The same memory and gradient in another shape; one size may be -1.")
      .def_prop_ro("T", transpose, "with the last two dimensions exchanged, as by pl.transpose(x)")
      .def(
          "item", [](const Tensor& x) { return double(x.item()); }, "The number of a tensor that has only one.")
      .def(
          "tolist", [](Self x) { return view<nb::numpy>(x).attr("tolist")(); }, "Its numbers as nested lists.")
      .def(
          "numpy", [](Self x) { return view<nb::numpy>(x); },
          "A NumPy array on the same memory; writing to it "
          "changes the tensor.");
  t.def("__array__", as_numpy, "dtype"_a = nb::none(), "copy"_a = nb::none())
      .def("__dlpack__", [](Self x, nb::kwargs how) { return view<nb::array_api>(x).attr("__dlpack__")(**how); })
      .def("__dlpack_device__", [](const Tensor&) { return std::pair(nb::device::cpu::value, 0); })
      .def("__len__", [](const Tensor& x) { return x.dim(0); })
      .def(
          "__getitem__", [](const Tensor& x, nb::object index) { return indexed(x, index); }, nb::arg("index").none())
      .def("__float__", [](const Tensor& x) { return double(x.item()); })
      .def("__bool__", [](const Tensor& x) { return x.item() != 0; })
      .def("__repr__", text)
      .def("__reduce__", [](Self x) {
        return nb::make_tuple(x.h.type(), nb::make_tuple(view<nb::numpy>(x).attr("copy")(), x.p->requires_grad()));
      });
  t.attr("__array_ufunc__") = nb::none();  // so that array + tensor is our sum, not an array of objects

  const auto both = [&t](const char* name, const char* reversed, Tensor (*op)(const Tensor&, const Tensor&)) {
    t.def(name, [op](const Tensor& a, TensorLike b) { return op(a, tensor_of(b).to(a.device())); });
    t.def(reversed, [op](const Tensor& b, TensorLike a) { return op(tensor_of(a).to(b.device()), b); });
  };
  both("__add__", "__radd__", add);
  both("__sub__", "__rsub__", sub);
  both("__mul__", "__rmul__", mul);
  both("__truediv__", "__rtruediv__", div);
  both("__matmul__", "__rmatmul__", matmul);
  t.def("__ge__", [](const Tensor& a, TensorLike b) { return greater_equal(a, tensor_of(b)); })
      .def("__le__", [](const Tensor& a, TensorLike b) { return greater_equal(tensor_of(b), a); })
      .def("__contains__",
           [](Self a, TensorLike b) {
             const nb::object equal = compared(a, b, "equal");
             return nb::isinstance<Tensor>(equal) && bool(nb::bool_(equal.attr("numpy")().attr("any")()));
           })
      .def("__neg__", [](const Tensor& x) { return -x; })
      .def("__abs__", [](const Tensor& x) { return abs(x); })
      .def("__pow__", [](const Tensor& x, double c) { return pow(x, c); });

  for (const auto& [name, by] : {std::pair("__eq__", "equal"), std::pair("__ne__", "not_equal"),
                                 std::pair("__gt__", "greater"), std::pair("__lt__", "less")})
    t.def(
        name, [by](Self a, nb::object b) { return compared(a, b, by); }, "other"_a.none());
  t.attr("__hash__") = nb::module_::import_("builtins").attr("object").attr("__hash__");

  m.def(
      "from_numpy", [](nb::object x) { return shared(x); }, "array"_a,
      "A tensor on the memory of a float32 array of NumPy or DLPack, without a copy: contiguous, writable, on the "
      "CPU.");
  m.attr("from_dlpack") = m.attr("from_numpy");
  m.def(
      "full", [](const Shape& shape, double value) { return Tensor::full(shape, real_of(value, "full")); }, "shape"_a,
      "value"_a, "A tensor of that shape with the same number everywhere.");
}

}  // namespace poslab::python
