// Shared by the tests of products with rounded factors: such products, and bounds on their errors.
#pragma once
#include "core/rounding.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/platform/isa.h"
#include "tests/support/op_run.h"

namespace poslab::test {

inline double two_to(int n) { return std::ldexp(1., n); }

template <class Work>
void on_each_isa(const Work& work) {
  const std::string before = isa();
  for (const std::string& set : available_isas()) {
    INFO(set);
    use_isa(set);
    work();
  }
  use_isa(before);
}

// While it lives, pairs are multiplied by the processor's instruction, even if that is slow, or by its emulation.
struct ByInstruction {
  UsePairs pairs{PairsBy::instruction};
};
struct Emulated {
  UsePairs pairs{PairsBy::emulated};
};

// sum + a b, rounded once, or 0 if that is subnormal. Exact, because double has more than twice float's bits.
inline float add_product(float sum, float a, float b) {
  const auto flushed = [](double x) { return std::abs(x) < two_to(-126) ? std::copysign(0., x) : x; };
  const double exact = flushed(sum) + flushed(a) * flushed(b);
  return std::abs(exact) < two_to(-126) - two_to(-151) ? std::copysign(0.f, float(exact)) : float(exact);
}

// The relative error of y, as a ratio of root mean squares.
template <class Number>
double share_off(const std::vector<real>& y, const std::vector<Number>& exact) {
  double off = 0, size = 0;
  for (size_t e = 0; e < y.size(); ++e)
    off += std::pow(double(y[e]) - double(exact[e]), 2), size += std::pow(double(exact[e]), 2);
  return size == 0 ? 0 : std::sqrt(off / size);
}

}  // namespace poslab::test
