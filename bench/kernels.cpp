#include "bench/all.h"

#include <fmt/format.h>

#include <algorithm>

#include "autograd/tape.h"
#include "bench/ceiling.h"
#include "bench/clock.h"
#include "core/platform/isa.h"
#include "core/platform/parallel.h"
#include "tests/op_cases/op_case.h"

namespace poslab {
namespace {

using test::OpCase;
using test::Tensors;
using Clock = std::chrono::steady_clock;

// A scalar whose gradient with respect to each element of y is 1. Sets `written` to the time when dy is complete.
Tensor seed(const Tensor& y, Clock::time_point& written) {
  return record("seed", Tensor::full({1}, 0), {y}, [y, &written](const real*) {
    std::fill_n(y.grad_accumulator().at, y.size(), real(1)), written = Clock::now();
  });
}

struct Time {
  double forward = 1e9, backward = 1e9;
  void take(const Time& t) { forward = std::min(forward, t.forward), backward = std::min(backward, t.backward); }
};

// The shortest of many runs: other work on the machine only adds time.
Time measure(const OpCase& c) {
  Tensors x = test::inputs(c);
  if (c.differentiable)
    for (Tensor& xi : x) xi.require_grad();
  Time best;
  const auto start = Clock::now();
  for (int run = 0; run < 5 || seconds_since(start) < 0.3; ++run) {
    for (const Tensor& xi : x) xi.clear_grad();
    Tensor y;
    best.forward = std::min(best.forward, timed([&] { y = c.op(x); }));
    if (!c.differentiable) continue;
    Clock::time_point written;
    backward(seed(y, written));
    best.backward = std::min(best.backward, seconds_since(written));
  }
  return best;
}

// Kernels that work row by row, with rows of length n: n keys, channels or classes.
std::vector<OpCase> row_cases(int n) {
  constexpr int rows = 2048, batch = 16, heads = 4, queries = 32, head = 8;
  const Shape x = {rows, n}, q = {batch, queries, heads, head}, k = {batch, n, heads, head};
  const Ids target({rows}, test::random_ids(rows, n, 5));
  const auto scores = [](const Tensors& t) {
    return Scores{.pieces = {{t[0], t[1]}}, .scale = real(0.4)};
  };
  std::vector<OpCase> all = {
      {"max", {}, {x}, [](auto& t) { return max(t[0]); }, {}},
      {"softmax", {}, {x}, [](auto& t) { return softmax(t[0]); }, {}},
      {"cross_entropy", {}, {x}, [target](auto& t) { return cross_entropy(t[0], target); }, {}},
      {"norm", {}, {x, {n}, {n}}, [](auto& t) { return norm(t[0], t[1], t[2]); }, {}},
      {"residual_norm", {}, {x, x, {n}, {n}}, [](auto& t) { return residual_norm(t[0], t[1], t[2], t[3], {}); }, {}},
      {"geometric", {}, {{batch, heads, queries, n}, {batch, heads, queries, 2}},
       [=](auto& t) { return geometric(t[0], t[1], {.offset = n - queries}); }, {}},
      {"attention", {}, {q, k, k}, [=](auto& t) { return attention(scores(t), t[2], {}); }, {}},
      {"attention_weights", {}, {q, k}, [=](auto& t) { return attention_weights(scores(t), {}); }, {}},
  };
  all.back().differentiable = false;
  return all;
}

// The cost of masked lanes in a row's last vector: rows of whole vectors, and rows half a vector longer.
void time_row_ends(const std::string& filter) {
  const int lanes = (isa() == "avx512" ? 64 : isa() == "avx2" ? 32 : 16) / int(sizeof(real));
  const int whole = 32, more = whole + lanes / 2;
  const std::vector<OpCase> short_rows = row_cases(whole), long_rows = row_cases(more);
  fmt::print(
      "\nrows of whole vectors, n = {}, and of half a vector more, n = {}: the cost of the half, in vectors of {}; "
      "should be at most 1.3\n{:<18}",
      whole, more, lanes, "kernel");
  for (const char* pass : {"forward", "backward"}) fmt::print("{:>10} us{:>9}{:>9}", pass, more, "vectors");
  fmt::print("\n");
  for (size_t i = 0; i < short_rows.size(); ++i) {
    if (short_rows[i].kernel.find(filter) == std::string::npos) continue;
    Time of_whole, of_more;
    for (int round = 0; round < 3; ++round) of_whole.take(measure(short_rows[i])), of_more.take(measure(long_rows[i]));
    const auto print = [&](double a, double b) {
      fmt::print("{:>13.1f}{:>9.1f}{:>9.2f}", a * 1e6, b * 1e6, (b - a) / a * whole / lanes);
    };
    fmt::print("{:<18}", short_rows[i].kernel);
    print(of_whole.forward, of_more.forward);
    if (short_rows[i].differentiable) print(of_whole.backward, of_more.backward);
    fmt::print("\n");
  }
}

}  // namespace

void time_kernels(const std::string& filter) {
  const double peak = ceiling();
  fmt::print(
      "{} {}, {} threads; backward: all gradients. GFLOP/s count the forward pass's FLOPs, backward twice; % is the\n"
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
  time_row_ends(filter);
}

}  // namespace poslab
