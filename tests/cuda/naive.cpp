// The kernels of cuda/naive/, written for readers: they give the CPU's results, and can be timed against the fast ones.
// Like all kernels they are emulated if there is no GPU (tests/cuda/backend.cpp).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "bench/naive.h"
#include "tests/cuda/helpers.h"
#include "tests/support/op_run.h"

namespace poslab::test {
namespace {

constexpr int64_t most = emulated ? 5000 : 1 << 30;  // numbers in the inputs: without tiles, larger cases add nothing

struct Naive {
  Naive() { add_backend(Device::cuda, cuda::as_naive_backend()); }
  ~Naive() { add_backend(Device::cuda, cuda::as_backend()); }
};

// The ops of cuda/naive/, by the name of the forward op.
const std::set<std::string> naive_ops = {"attention", "linear", "norm"};

}  // namespace

TEST_CASE("cuda: the naive kernels give the CPU's results, forward and backward") {
  const OneThread one;
  [[maybe_unused]] const Quick quick;
  const Naive naive;
  CHECK(!kernels(Device::cuda).encoder_block);            // an encoder block runs op by op, through the naive kernels
  std::map<std::string, int> tried;
  double worst = 0;
  for (const OpCase& c : op_cases()) {
    if (!naive_ops.count(c.kernel) || !is_small(c, most)) continue;
    INFO(title(c));
    const Tensors x = inputs(c);
    const Result cpu = run(c, x), gpu = run(c, x, Device::cuda), again = run(c, x, Device::cuda);
    CHECK(value_error(c, gpu.value, c.reference(in_double(x))) <= value_tolerance);
    CHECK(difference(gpu, cpu) <= cuda_tolerance);
    CHECK(same_bits(gpu, again));
    worst = std::max(worst, difference(gpu, cpu)), ++tried[c.kernel];
  }
  CHECK(tried.size() == naive_ops.size());
  for (const auto& [kernel, cases] : tried) fmt::print("naive {:<18}{:>4} cases\n", kernel, cases);
  fmt::print("worst relative error of values and gradients, to the CPU: {:.1e}\n", worst);
}

TEST_CASE("cuda: the naive kernels compute only wanted gradients, and add them to existing values") {
  const OneThread one;
  [[maybe_unused]] const Quick quick;
  const Naive naive;
  int tried = 0;
  for (const OpCase& c : op_cases()) {
    if (!naive_ops.count(c.kernel) || !is_small(c, 2000)) continue;
    INFO(title(c));
    check_gradients_alone(c, Device::cuda, cuda_tolerance);
    ++tried;
  }
  CHECK(tried > 20);
}

TEST_CASE("cuda: naive and fast kernels are timed side by side, as recorded steps, and agree") {
  const OneThread one;
  [[maybe_unused]] const Quick quick;
  std::vector<OpCase> few;                                // a small case of each kernel, and one without a naive kernel
  std::set<std::string> seen;
  for (const OpCase& c : op_cases())
    if ((naive_ops.count(c.kernel) || c.kernel == "softmax") && is_small(c, 2000) && !is_small(c, 100) &&
        seen.insert(c.kernel).second)
      few.push_back(c);
  CHECK(few.size() == naive_ops.size() + 1);
  const Kernels& before = backend(Device::cuda).kernels();
  const int recorded = cuda::recordings();
  const std::vector<Beside> lines = time_naive(few, cuda::as_naive_backend(), "", 0);
  CHECK(&backend(Device::cuda).kernels() == &before);     // the fast kernels are active again
  CHECK(cuda::recordings() - recorded <= int(2 + 8 * lines.size()));      // four for each, again if memory grew
  std::set<std::string> timed;
  for (const Beside& line : lines) {
    INFO(line.kernel << " " << line.name);
    timed.insert(line.kernel);
    CHECK(line.forward.naive > 0);
    CHECK(line.forward.fast > 0);
    CHECK(line.off <= cuda_tolerance);
  }
  CHECK(timed == naive_ops);                              // softmax has no naive kernel, and is not timed
  CHECK(time_naive(few, cuda::as_naive_backend(), "attention", 0).size() == 1);
  CHECK(time_naive(few, cuda::as_backend(), "", 0).empty());              // these are the fast kernels
}

}  // namespace poslab::test
