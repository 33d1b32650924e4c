// exp log tanh sigmoid softplus relu cos sin sqrt silu gelu gelu_tanh. Their special values are in
// tests/core/special_values.cpp.
#include <fmt/format.h>

#include "tests/op_cases/op_case.h"

namespace poslab::test {
namespace {

struct Function {
  const char* name;
  Tensor (*op)(const Tensor&);
  double (*reference)(double);
  std::vector<Range> ranges;
};

double softplus_reference(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
double gelu_tanh_reference(double x) {
  return x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.)) * (x + 0.044715 * x * x * x))) / 2;
}

// Ranges exclude values that float cannot represent, and relu's kink, where a difference quotient means nothing.
const std::vector<Function> functions = {
    {"exp", poslab::exp, [](double x) { return std::exp(x); }, {{-1, 1}, {-80, 80}}},
    {"log", poslab::log, [](double x) { return std::log(x); }, {{0.5, 2}, {1e-3, 1e3}}},
    {"tanh", poslab::tanh, [](double x) { return std::tanh(x); }, {{-0.7, 0.7}, {-5, 5}}},
    {"sigmoid", poslab::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, {{-1, 1}, {-6, 6}}},
    {"softplus", poslab::softplus, softplus_reference, {{-1, 1}, {-30, 30}}},
    {"relu", poslab::relu, [](double x) { return x > 0 ? x : 0; }, {{0.01, 1}, {-1, -0.01}}},
    {"silu", poslab::silu, [](double x) { return x / (1 + std::exp(-x)); }, {{-1, 1}, {-20, 20}}},
    {"gelu", poslab::gelu, [](double x) { return x * std::erfc(-x / std::sqrt(2.)) / 2; }, {{-1, 1}, {-6, 6}}},
    {"gelu_tanh", poslab::gelu_tanh, gelu_tanh_reference, {{-1, 1}, {-3, 3}}},
    {"cos", poslab::cos, [](double x) { return std::cos(x); }, {{-0.7, 0.7}, {-100, 100}}},
    {"sin", poslab::sin, [](double x) { return std::sin(x); }, {{-0.7, 0.7}, {-100, 100}}},
    {"sqrt", poslab::sqrt, [](double x) { return std::sqrt(x); }, {{0.1, 2}, {1, 1e4}}},
};

const Cases elementwise_cases([](std::vector<OpCase>& all) {
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

const Cases elementwise_speed(
    [](std::vector<OpCase>& all) {
      for (const Function& f : functions)
        all.push_back(
            {f.name, "(5120, 256)", {{5120, 256}}, [op = f.op](auto& x) { return op(x[0]); }, {}, {}, {f.ranges[0]}});
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
