// Values and slopes at the edges of formulas: at 0, at equal numbers, at infinity, in rows of one number. They equal
// PyTorch's, unless a comment in a table says otherwise.
#include <doctest/doctest.h>

#include "autograd/tape.h"
#include "core/error.h"
#include "tests/op_cases/op_case.h"

namespace poslab::test {
namespace {

constexpr double inf = INFINITY, nan = NAN;
using Row = std::vector<double>;

bool equal(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= 1e-6 * std::abs(b);
}
void check_equal(const Tensor& found, const Row& expected, const char* what) {
  REQUIRE(found.size() == int64_t(expected.size()));
  for (size_t e = 0; e < expected.size(); ++e) {
    INFO(what << " " << e << " is " << found.data()[e] << ", and should be " << expected[e]);
    CHECK(equal(double(found.data()[e]), expected[e]));
  }
}
Tensor one(double x) { return Tensor::full({1}, real(x)); }

struct Edge {
  const char* name;
  std::function<Tensor(const Tensor&)> op;
  Row x, y, dx;                            // dx: the gradient of sum y
};

const auto power = [](double c) { return [c](const Tensor& x) { return pow(x, c); }; };
const auto over = [](double c) { return [c](const Tensor& x) { return x / one(c); }; };
const auto under = [](double c) { return [c](const Tensor& x) { return one(c) / x; }; };

// functions of one number: each column is an x, its y and the slope there
const std::vector<Edge> of_one_number = {
    {"x^0", power(0), {0, 2, -2, inf, nan}, {1, 1, 1, 1, 1}, {0, 0, 0, 0, 0}},
    {"x^1", power(1), {0, -3, inf}, {0, -3, inf}, {1, 1, 1}},
    {"x^2", power(2), {0, -3, inf}, {0, 9, inf}, {0, -6, inf}},
    {"x^3", power(3), {0, -3}, {0, -27}, {0, 27}},
    {"x^1.5", power(1.5), {0, 4, -1}, {0, 8, nan}, {0, 3, nan}},
    {"x^0.5", power(0.5), {0, 4, -1, inf}, {0, 2, nan, inf}, {inf, 0.25, nan, 0}},
    {"x^-1", power(-1), {0, 2, inf}, {inf, 0.5, 0}, {-inf, -0.25, 0}},
    {"x^-2", power(-2), {0, -2}, {inf, 0.25}, {-inf, 0.25}},
    {"sqrt", poslab::sqrt, {0, 4, -1, inf}, {0, 2, nan, inf}, {inf, 0.25, nan, 0}},
    {"log", poslab::log, {0, 1, -1, inf}, {-inf, 0, nan, inf}, {inf, 1, -1, 0}},
    {"exp", poslab::exp, {0, -inf, inf}, {1, 0, inf}, {1, 0, inf}},
    {"abs", poslab::abs, {0, -0.0, -2, inf, -inf}, {0, 0, 2, inf, inf}, {0, 0, -1, 1, -1}},
    {"relu", relu, {0, -0.0, -inf, inf}, {0, 0, 0, inf}, {0, 0, 0, 1}},
    {"clamp to -1 .. 1", [](const Tensor& x) { return clamp(x, -1, 1); }, {-1, 1, 2, -inf}, {-1, 1, 1, -1},
     {1, 1, 0, 0}},
    {"x / 0", over(0), {1, -1, 0}, {inf, -inf, nan}, {inf, inf, inf}},
    {"x / inf", over(inf), {1, inf}, {0, nan}, {0, 0}},
    {"1 / x", under(1), {0, inf, -2}, {inf, 0, -0.5}, {-inf, 0, -0.25}},
    {"0 / x", under(0), {0, 2}, {nan, 0}, {nan, 0}},
    // PyTorch gives each of two equal numbers half of the gradient; here the first one gets all of it
    {"max(x, 1)", [](const Tensor& x) { return maximum(x, one(1)); }, {1, 2, 0, inf}, {1, 2, 1, inf}, {1, 1, 0, 1}},
    {"max(1, x)", [](const Tensor& x) { return maximum(one(1), x); }, {1, 2, 0, inf}, {1, 2, 1, inf}, {0, 1, 0, 1}},
    {"min(x, 1)", [](const Tensor& x) { return minimum(x, one(1)); }, {1, 2, -inf}, {1, 1, -inf}, {1, 0, 1}},
    // the side that is not chosen has gradient 0, and a NaN there does not spread
    {"where(0, x, 5)", [](const Tensor& x) { return where(one(0), x, one(5)); }, {nan, inf, 1}, {5, 5, 5}, {0, 0, 0}},
    {"where(1, 5, x)", [](const Tensor& x) { return where(one(1), one(5), x); }, {nan, inf, 1}, {5, 5, 5}, {0, 0, 0}},
    {"where(x, 5, 7)", [](const Tensor& x) { return where(x, one(5), one(7)); }, {0, -0.0, 0.5, -1, nan, inf},
     {7, 7, 5, 5, 5, 5}, {}},
};

const Tensor ramp(int n) {
  Row r;
  for (int j = 0; j < n; ++j) r.push_back(j + 1);
  return Tensor::from({1, n}, r);
}
const auto weighed = [](auto op) { return [op](const Tensor& x) { return op(x) * ramp(x.dim(1)); }; };
const auto layer_norm = [](const Tensor& x) {
  return norm(x, Tensor::full({x.dim(1)}, 1), Tensor::full({x.dim(1)}, 3));
};
const auto root_norm = [](const Tensor& x) { return rms_norm(x, Tensor::full({x.dim(1)}, 1), 1e-6); };
const auto of_class = [](int c) { return [c](const Tensor& x) { return cross_entropy(x, Ids({1}, {c})); }; };

// functions of a row: y is the op's value, dx its derivative; if the op is `weighed`, y is a sum with weights 1, 2, ...
const std::vector<Edge> of_a_row = {
    {"max: the first of equal ones", max, {1, 2, 2}, {2}, {0, 1, 0}},
    {"max: NaN", max, {1, nan, 2}, {nan}, {0, 1, 0}},
    {"max: -infinities", max, {-inf, -inf}, {-inf}, {1, 0}},
    {"softmax: a masked key", weighed(softmax), {0, -inf, 0}, {0.5, 0, 1.5}, {-0.5, 0, 0.5}},
    {"softmax: all masked", weighed(softmax), {-inf, -inf}, {nan, nan}, {nan, nan}},
    {"softmax: an infinity", weighed(softmax), {0, inf}, {nan, nan}, {nan, nan}},
    {"cross_entropy: a masked class", of_class(0), {0, -inf}, {0}, {0, 0}},
    {"cross_entropy: the masked class", of_class(1), {0, -inf}, {inf}, {1, -1}},
    {"norm: a constant row", weighed(layer_norm), {7, 7, 7}, {3, 6, 9},
     {-1 / std::sqrt(1e-5), 0, 1 / std::sqrt(1e-5)}},
    {"rms_norm: zeros", weighed(root_norm), {0, 0}, {0, 0}, {1000, 2000}},
#ifndef POSLAB_DOUBLE
    {"norm: squares beyond float", weighed(layer_norm), {1e20, -1e20}, {3, 6}, {0, 0}},
    {"rms_norm: squares beyond float", weighed(root_norm), {1e20, -1e20}, {0, 0}, {0, 0}},
#endif
};

void check(const std::vector<Edge>& edges, const std::function<Shape(int)>& shape) {
  for (const Edge& e : edges) {
    INFO(e.name);
    Tensor x = Tensor::from(shape(int(e.x.size())), e.x);
    x.require_grad();
    const Tensor y = e.op(x);
    check_equal(y, e.y, "value");
    if (e.dx.empty()) {
      CHECK_FALSE(y.requires_grad());
      continue;
    }
    for (const int times : {1, 2}) {        // the second gradient is added to the first
      if (times == 2) backward(sum_all(e.op(x)));
      else backward(sum_all(y));
      Row dx = e.dx;
      for (double& d : dx) d *= times;
      check_equal(x.grad(), dx, "slope");
    }
  }
}

}  // namespace

TEST_CASE("edges: values and derivatives of elementwise functions, and of functions of rows") {
  check(of_one_number, [](int n) { return Shape{n}; });
  check(of_a_row, [](int n) { return Shape{1, n}; });
}

TEST_CASE("edges: exponents that are NaN or infinite, and bounds that are NaN or swapped, are refused") {
  const auto refuses = [](const std::function<void()>& action, const std::string& words) {
    CHECK_THROWS_WITH_AS(action(), words.c_str(), BadInput);
  };
  refuses([] { pow(one(2), nan); }, "pow: the exponent is nan; give a finite number");
  refuses([] { pow(one(2), -inf); }, "pow: the exponent is -inf; give a finite number");
  refuses([] { clamp(one(2), nan, 1); }, "clamp: low = nan, high = 1; give numbers");
  refuses([] { clamp(one(2), 3, 1); }, "clamp: low = 3 is above high = 1; swap them");
}

TEST_CASE("edges: padding reaches no result and no gradient of attention, even if it is NaN or infinite") {
  for (const int T : {5, 20, 80}) {
    const Span span{.key_lengths = Ids({2}, {T, T - 2})};
    const Shape heads = {2, T, 2, 4};
    Tensor q = Tensor::full(heads, real(0.1)).require_grad(), k = Tensor::full(heads, real(0.2)).require_grad(),
           v = Tensor::full(heads, real(0.3)).require_grad(), bias = Tensor::full({2 * T - 1, 2}, 0).require_grad();
    for (int64_t e = v.size() - 2 * 8; e < v.size(); ++e) v.data()[e] = std::numeric_limits<real>::quiet_NaN();
    const Tensor o = attention({.pieces = {{q, k}}, .scale = real(0.5), .bias = bias}, v, span);
    backward(sum_all(o * o));
    for (const Tensor& x : {o, q.grad(), k.grad(), v.grad(), bias.grad()})
      for (const real number : x.values()) CHECK(std::isfinite(number));
  }
}

#if defined __SSE2__ && !defined POSLAB_DOUBLE
// A subnormal number costs Intel's processors 150 cycles. A far key's tiny weight times a small gradient can be one.
TEST_CASE("edges: attention treats subnormal numbers as zero, other ops do not") {
  for (const int channels : {8, 32}) {
    const Shape heads = {1, 64, 1, channels};
    Tensor q = Tensor::full(heads, real(0.1)).require_grad(), k = Tensor::full(heads, real(0.1));
    const Tensor v = Tensor::full(heads, real(1e-40));
    const Tensor o = attention({.pieces = {{q, k}}, .scale = 1}, v, {});
    CHECK(o.values() == std::vector<real>(size_t(o.size()), 0));
    CHECK(sum_all(v).item() > 0);
  }
}
#endif

}  // namespace poslab::test
