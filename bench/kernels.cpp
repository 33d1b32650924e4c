#include "bench/kernels.h"

#include <fmt/format.h>

#include <chrono>

#include "autograd/tape.h"
#include "core/isa.h"
#include "core/parallel.h"
#include "tests/op_case.h"

namespace poslab {
namespace {

using test::OpCase;
using test::Tensors;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A scalar whose gradient reaches every element of y as 1, for the price of writing that gradient.
Tensor seed(const Tensor& y) {
  return record("seed", Tensor::full({1}, 0), {y}, [y](const real*) { std::fill_n(y.grad_sum().at, y.size(), real(1)); });
}

struct Time { double forward = 1e9, backward = 1e9; };

// The shortest of many runs: what else the machine does only ever adds.
Time measure(const OpCase& c) {
  Tensors x = test::inputs(c);
  if (c.differentiable)
    for (Tensor& xi : x) xi.want_grad();
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
  fmt::print("{} {}, {} threads; backward: all gradients. GB/s counts inputs and result once, GFLOP/s the forward pass once, twice backward\n",
             isa(), sizeof(real) == 4 ? "float" : "double", threads());
  fmt::print("{:<18}{:<52}{:>12}{:>10}{:>14}{:>10}\n", "kernel", "case", "forward us", "", "backward us", "");
  for (const OpCase& c : test::op_cases(test::For::bench)) {
    if (c.kernel.find(filter) == std::string::npos) continue;
    const Time t = measure(c);
    int64_t elements = c.op(test::inputs(c)).size();
    for (const Shape& shape : c.shapes) elements += size_of(shape);
    const auto rate = [&](double seconds, int passes) {
      return c.flops > 0 ? fmt::format("{:.0f} GF/s", passes * c.flops / seconds / 1e9)
                         : fmt::format("{:.0f} GB/s", double(elements) * sizeof(real) / seconds / 1e9);
    };
    fmt::print("{:<18}{:<52}{:>12.1f}{:>10}", c.kernel, c.name, t.forward * 1e6, rate(t.forward, 1));
    if (c.differentiable) fmt::print("{:>14.1f}{:>10}", t.backward * 1e6, rate(t.backward, 2));
    fmt::print("\n");
  }
}

}  // namespace poslab
