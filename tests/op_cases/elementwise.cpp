#include <doctest/doctest.h>
#include <fmt/format.h>

#include "autograd/tape.h"
#include "core/isa.h"
#include "tests/op_case.h"

namespace poslab::test {
namespace {

struct Function {
  const char* name;
  Tensor (*op)(const Tensor&);
  double (*reference)(double);
  std::vector<Range> ranges;
};

// Ranges leave out what float cannot hold, and for relu the kink, where a difference quotient means nothing.
const std::vector<Function> functions = {
    {"exp", poslab::exp, [](double x) { return std::exp(x); }, {{-1, 1}, {-80, 80}}},
    {"log", poslab::log, [](double x) { return std::log(x); }, {{0.5, 2}, {1e-3, 1e3}}},
    {"tanh", poslab::tanh, [](double x) { return std::tanh(x); }, {{-0.7, 0.7}, {-5, 5}}},
    {"sigmoid", poslab::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, {{-1, 1}, {-6, 6}}},
    {"softplus", poslab::softplus, [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }, {{-1, 1}, {-30, 30}}},
    {"relu", poslab::relu, [](double x) { return x > 0 ? x : 0; }, {{0.01, 1}, {-1, -0.01}}},
    {"sqrt", poslab::sqrt, [](double x) { return std::sqrt(x); }, {{0.1, 2}, {1, 1e4}}},
};

const Cases cases([](std::vector<OpCase>& all) {
  for (const Function& f : functions)
    for (const Range range : f.ranges)
      for (const Shape& shape : std::vector<Shape>{{1}, {31}, {3, 11}, {257}, {33, 1000}}) {
        const auto reference = [g = f.reference](Arrays x) {
          for (double& v : x[0].at) v = g(v);
          return x[0];
        };
        all.push_back({f.name, fmt::format("{} in {} .. {}", to_string(shape), range.low, range.high), {shape},
                       [op = f.op](auto& x) { return op(x[0]); }, reference, {}, {range}, 1e-30});
      }
});

const Cases speed([](std::vector<OpCase>& all) {
  for (const Function& f : functions)
    all.push_back({f.name, "(5120, 256)", {{5120, 256}}, [op = f.op](auto& x) { return op(x[0]); }, {}, {}, {f.ranges[0]}});
}, For::bench);

// Compared as printed words, so that NaN equals NaN and the signs of zeros do not matter.
std::string word(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return x == 0 ? "0" : "finite";
}

}  // namespace

TEST_CASE("elementwise: NaN, infinities and large numbers, in every lane and on every instruction set") {
  const double inf = INFINITY, nan = NAN, big = 3e38;
  const std::vector<double> x = {nan, inf, -inf, 0, -0.0, big, -big};
  const std::vector<std::pair<std::string, std::vector<double>>> expected = {
      {"exp", {nan, inf, 0, 1, 1, inf, 0}},
      {"log", {nan, inf, nan, -inf, -inf, 88.6, nan}},
      {"tanh", {nan, 1, -1, 0, 0, 1, -1}},
      {"sigmoid", {nan, 1, 0, 0.5, 0.5, 1, 0}},
      {"softplus", {nan, inf, 0, 0.69314718, 0.69314718, big, 0}},
      {"relu", {nan, inf, 0, 0, 0, big, 0}},
      {"sqrt", {nan, inf, nan, 0, 0, big, nan}},
  };
  const std::string before = isa();
  for (const std::string& set : available_isas()) {
    use_isa(set);
    for (size_t f = 0; f < functions.size(); ++f) {
      REQUIRE(functions[f].name == expected[f].first);
      for (size_t i = 0; i < x.size(); ++i)
        for (int lane = 0; lane < 33; ++lane) {
          Tensor v = Tensor::full({33}, 1);
          v.data()[lane] = real(x[i]);
          const Tensor y = functions[f].op(v);
          INFO(functions[f].name << " of " << x[i] << " in lane " << lane << " on " << set);
          CHECK(word(double(y.data()[lane])) == word(expected[f].second[i]));
          if (std::abs(expected[f].second[i]) <= 1) CHECK(double(y.data()[lane]) == doctest::Approx(expected[f].second[i]).epsilon(1e-6));
          CHECK(word(double(y.data()[(lane + 1) % 33])) == word(functions[f].reference(1)));   // its neighbours do not notice
        }
    }
  }
  use_isa(before);
}

TEST_CASE("elementwise: derivatives at large numbers are the limits") {
  const auto derivative = [](Tensor (*op)(const Tensor&), double at) {
    Tensor x = Tensor::full({5}, real(at));
    x.want_grad();
    backward(sum_all(op(x)));
    return double(x.grad().data()[4]);
  };
  for (const double far : {50., 1000., double(INFINITY)}) {
    CHECK(derivative(poslab::tanh, far) == 0);
    CHECK(derivative(poslab::sigmoid, far) == doctest::Approx(0).epsilon(1e-20));
    CHECK(derivative(poslab::softplus, far) == doctest::Approx(1));
    CHECK(derivative(poslab::softplus, -far) == doctest::Approx(0));
    CHECK(derivative(poslab::relu, far) == 1);
    CHECK(derivative(poslab::relu, -far) == 0);
  }
  CHECK(std::isnan(derivative(poslab::tanh, NAN)));
  CHECK(std::isnan(derivative(poslab::softplus, NAN)));
}

#ifndef POSLAB_DOUBLE
TEST_CASE("elementwise: within a few units in the last place, over the whole range of float") {
  const auto worst = [](Tensor (*op)(const Tensor&), double (*reference)(double), const std::vector<float>& at) {
    const Tensor y = op(Tensor::from({int(at.size())}, at));
    double most = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      const double expected = reference(double(at[i]));
      most = std::max(most, std::abs(double(y.data()[i]) - expected) / std::abs(expected));
    }
    return most / 5.96e-8;   // half the distance of neighbouring floats at 1
  };
  std::vector<float> all, positive;
  for (double x = 1e-37; x < 85; x *= 1.0003) all.push_back(float(x)), all.push_back(float(-x));
  for (double x = 1e-44; x < 3e38; x *= 1.0007) positive.push_back(float(x));
  for (int i = -1000; i <= 1000; ++i) positive.push_back(1 + float(i) * 1e-6f);
  std::erase(positive, 1.f);
  CHECK(worst(poslab::exp, functions[0].reference, all) < 5);
  CHECK(worst(poslab::log, functions[1].reference, positive) < 5);
  CHECK(worst(poslab::tanh, functions[2].reference, all) < 5);
  CHECK(worst(poslab::sigmoid, functions[3].reference, all) < 8);
  CHECK(worst(poslab::softplus, functions[4].reference, all) < 8);
}
#endif

}  // namespace poslab::test
