// One function for each alternative of a std::variant: std::visit(Overload{[](int) {...}, [](double) {...}}, x).
#pragma once

namespace poslab {

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

}  // namespace poslab
