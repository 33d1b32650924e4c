#include "bench/naive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>

#include "autograd/tape.h"
#include "bench/clock.h"

namespace poslab {
namespace {

using test::OpCase;
using test::Tensors;

// While an object of this class lives, the given backend serves Device::cuda.
class Instead {
 public:
  explicit Instead(const Backend& b) : before_(backend(Device::cuda)) { add_backend(Device::cuda, b); }
  ~Instead() { add_backend(Device::cuda, before_); }
  Instead(const Instead&) = delete;
  Instead& operator=(const Instead&) = delete;

 private:
  const Backend& before_;
};

// A scalar whose gradient with respect to each element of y is 1. Its backward pass is one fill, on either backend.
Tensor ones_behind(const Tensor& y) {
  return record("seed", Tensor({1}, y.device()), {y},
                [y](const real*) { backend(y.device()).fill(y.grad_accumulator().at, 1, y.size()); });
}

void forward(const OpCase& c, const Tensors& x) {
  const NoGrad none;
  c.op(x);
}
void both(const OpCase& c, const Tensors& x) {
  for (const Tensor& xi : x) xi.clear_grad();
  backward(ones_behind(c.op(x)));
}

// Seconds of a step that has only this op, the shortest of several rounds. It is recorded and replayed with one call,
// like a training step, which hides the host's work except for the shortest ops.
double time_of(const std::function<void()>& work, double seconds) {
  const Backend& gpu = backend(Device::cuda);
  const auto round = [&](int steps) {
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < steps; ++n) gpu.step(work);
    gpu.wait();
    return seconds_since(start) / steps;
  };
  round(2);                                         // records here, and again after memory has grown
  double best = round(1);
  const int steps = std::clamp(int(seconds / 5 / best), 1, 100);
  const auto start = std::chrono::steady_clock::now();
  do best = std::min(best, round(steps));
  while (seconds_since(start) < seconds);
  return best;
}

using Numbers = std::vector<std::vector<real>>;
Numbers results(const OpCase& c, const Tensors& x) {
  for (const Tensor& xi : x) xi.clear_grad();
  const Tensor y = c.op(x);
  Numbers all = {y.values()};
  backward(ones_behind(y));
  for (const Tensor& xi : x) all.push_back(xi.grad().values());
  return all;
}
// If a gradient should be 0, its rounding errors are compared with the largest number of all tensors.
double difference(const Numbers& a, const Numbers& b) {
  double most = 0, largest = 0;
  for (size_t n = 0; n < a.size(); ++n)
    for (size_t e = 0; e < a[n].size(); ++e) {
      const double d = std::abs(double(a[n][e]) - double(b[n][e]));
      most = std::isnan(d) ? INFINITY : std::max(most, d), largest = std::max(largest, std::abs(double(b[n][e])));
    }
  return most / std::max(largest, 1e-300);
}

std::set<std::string> kernels_that_differ(const Kernels& a, const Kernels& b) {
  std::set<std::string> names;
#define KERNEL(name, ...) if (a.name != b.name) names.insert(#name);
#include "core/kernels.def"
#undef KERNEL
  return names;
}

}  // namespace

std::vector<Beside> time_naive(const std::vector<OpCase>& cases, const Backend& naive, const std::string& filter,
                               double seconds) {
  const Backend& fast = backend(Device::cuda);
  const std::set<std::string> differ = kernels_that_differ(naive.kernels(), fast.kernels());
  const Tensor one({1}, Device::cuda);
  const double least = time_of([&] { fast.fill(one.data(), 1, 1); }, seconds);
  fmt::print("{}: microseconds of an op in a step of its own, with the kernels of cuda/naive and with the fast ones.\n"
             "A step that does nothing takes {:.1f}: so short a time is the host's. backward: all gradients, a step\n"
             "with both passes minus one with the forward pass. off: largest difference / largest number.\n"
             "{:<18}{:<64}{:>12}{:>10}{:>8}{:>16}{:>10}{:>8}{:>9}\n",
             fast.name(), least * 1e6, "kernel", "case", "naive us", "fast us", "ratio", "backward naive", "fast us",
             "ratio", "off");
  std::vector<Beside> all;
  for (const OpCase& c : cases) {
    if (!c.differentiable || !differ.count(c.kernel) || c.name == "composed") continue;
    if (c.kernel.find(filter) == std::string::npos) continue;
    Tensors x;
    for (const Tensor& on_host : test::inputs(c)) x.push_back(on_host.to(Device::cuda)), x.back().require_grad();
    const auto time = [&](const std::function<void()>& work) {
      Beside::Seconds t{.fast = time_of(work, seconds)};
      const Instead other(naive);
      t.naive = time_of(work, seconds);
      return t;
    };
    const Numbers of_fast = results(c, x);
    const auto of_naive = [&] {
      const Instead other(naive);
      return results(c, x);
    };
    Beside line{c.kernel, c.name, time([&] { forward(c, x); }), time([&] { both(c, x); }),
                difference(of_naive(), of_fast)};
    line.backward.naive -= line.forward.naive, line.backward.fast -= line.forward.fast;
    const auto &f = line.forward, &b = line.backward;
    fmt::print("{:<18}{:<64}{:>12.1f}{:>10.1f}{:>8.1f}{:>16.1f}{:>10.1f}{:>8.1f}{:>9.0e}\n", c.kernel, c.name,
               f.naive * 1e6, f.fast * 1e6, f.naive / f.fast, b.naive * 1e6, b.fast * 1e6, b.naive / b.fast, line.off);
    std::fflush(stdout);
    all.push_back(line);
  }
  return all;
}

}  // namespace poslab
