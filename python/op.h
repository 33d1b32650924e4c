// One line for each op: op(m, "softmax", softmax, "x"_a, "its description"). The C++ types of arguments and results
// determine the Python types.
#pragma once
#include "autograd/ops.h"
#include "python/convert.h"

namespace poslab::python {

template <class T>
struct Taken {
  using Type = T;
  static T&& from(T& x) { return std::forward<T>(x); }
};
template <>
struct Taken<const Tensor&> {
  using Type = TensorLike;
  static Tensor from(const TensorLike& x) { return tensor_of(x); }
};
template <>
struct Taken<const Ids&> {
  using Type = IdsLike;
  static Ids from(const IdsLike& x) { return ids_of(x); }
};
template <>
struct Taken<const std::vector<Tensor>&> {
  using Type = nb::sequence;
  static std::vector<Tensor> from(const nb::sequence& all) {
    std::vector<Tensor> tensors;
    for (const nb::handle x : all) tensors.push_back(tensor_of(x));
    return tensors;
  }
};

inline Tensor given(Tensor x) { return x; }
inline auto given(TopK t) { return std::tuple(t.values, t.columns); }
inline auto given(ResidualNorm r) { return std::tuple(r.s, r.y); }

template <class Result, class... Args, class... Extra>
void op(nb::module_& m, const char* name, Result (*f)(Args...), const Extra&... extra) {
  m.def(
      name, [f](typename Taken<Args>::Type... args) { return given(f(Taken<Args>::from(args)...)); }, extra...);
}

}  // namespace poslab::python
