#include "bench/kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "autograd/tape.h"
#include "bench/ceiling.h"
#include "bench/clock.h"
#include "core/isa.h"
#include "core/parallel.h"
#include "tests/op_case.h"

namespace poslab {
namespace {

using test::OpCase;
using test::Tensors;

// A scalar whose gradient reaches every element of y as 1, for the price of writing that gradient.
Tensor seed(const Tensor& y) {
  return record("seed", Tensor::full({1}, 0), {y},
                [y](const real*) { std::fill_n(y.grad_accumulator().at, y.size(), real(1)); });
}

struct Time {
  double forward = 1e9, backward = 1e9;
};

// The shortest of many runs: what else the machine does only ever adds.
Time measure(const OpCase& c) {
  Tensors x = test::inputs(c);
  if (c.differentiable)
    for (Tensor& xi : x) xi.require_grad();
  Time best;
  const auto start = std::chrono::steady_clock::now();
  for (int run = 0; run < 5 || seconds_since(start) < 0.3; ++run) {
    for (const Tensor& xi : x) xi.clear_grad();
    const auto before = std::chrono::steady_clock::now();
    const Tensor y = c.op(x);
    best.forward = std::min(best.forward, seconds_since(before));
    if (!c.differentiable) continue;
    const Tensor loss = seed(y);
    const auto between = std::chrono::steady_clock::now();
    backward(loss);
    best.backward = std::min(best.backward, seconds_since(between));
  }
  return best;
}

}  // namespace

void time_kernels(const std::string& filter) {
  const double peak = ceiling();
  fmt::print(
      "{} {}, {} threads; backward: all gradients. GFLOP/s count the forward pass once, twice backward, and % is the\n"
      "share of a 2048 x 2048 x 2048 product's {:.0f}; GB/s count inputs and result once, and % is the share of a copy "
      "that\n"
      "reads and writes as many bytes, so that both sit in the same cache\n",
      isa(), sizeof(real) == 4 ? "float" : "double", threads(), peak);
  fmt::print("{:<18}{:<52}{:>12}{:>17}{:>14}{:>17}\n", "kernel", "case", "forward us", "", "backward us", "");
  for (const OpCase& c : test::op_cases(test::For::bench)) {
    if (c.kernel.find(filter) == std::string::npos) continue;
    const Time t = measure(c);
    int64_t elements = c.op(test::inputs(c)).size();
    for (const Shape& shape : c.shapes) elements += size_of(shape);
    const int64_t bytes = elements * int64_t(sizeof(real));
    const double copy = c.flops > 0 ? 0 : copy_rate(bytes);
    const auto rate = [&](double seconds, int passes) {
      const double gflops = passes * c.flops / seconds / 1e9, gigabytes = double(bytes) / seconds / 1e9;
      return c.flops > 0 ? fmt::format("{:.0f} GF/s {:3.0f} %", gflops, 100 * gflops / peak)
                         : fmt::format("{:.0f} GB/s {:3.0f} %", gigabytes, 100 * gigabytes / copy);
    };
    fmt::print("{:<18}{:<52}{:>12.1f}{:>17}", c.kernel, c.name, t.forward * 1e6, rate(t.forward, 1));
    if (c.differentiable) fmt::print("{:>14.1f}{:>17}", t.backward * 1e6, rate(t.backward, 2));
    fmt::print("\n");
  }
}

}  // namespace poslab
