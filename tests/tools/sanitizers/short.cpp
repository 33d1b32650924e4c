// The short form of ./dev test asan (tests/tools/sanitizers/run.sh): small cases of all ops on the CPU and in the
// emulated CUDA kernels, forward and backward, and planted faults, without which a clean run would prove nothing. The
// laws of the schemes come from tests/encodings/invariants.cpp.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <limits>

#include "core/memory.h"
#include "cuda/emulate.h"
#include "cuda/launch.h"
#include "tests/cuda/helpers.h"
#include "tests/support/op_run.h"

namespace poslab::test {
namespace {

bool is_small(const OpCase& c) {                                 // emulation is slow
  int64_t size = 0;
  for (const Shape& shape : c.shapes) size += size_of(shape);
  return size <= (c.of_gpu ? 27000 : 5000);
}
bool has_products(const OpCase& c) { return is_product(c) || c.kernel.starts_with("encoder_"); }

// Runs the small ones of the wanted cases with both backends, and returns their number.
int run_both(double tolerance, const std::function<bool(const OpCase&)>& wanted) {
  const OneThread one;
  const BlockKernels blocks;
  const Quick quick;
  int tried = 0;
  for (const OpCase& c : op_cases()) {
    if (!wanted(c) || !is_small(c)) continue;
    INFO(title(c));
    const Tensors x = inputs(c);
    CHECK(difference(run(c, x, Device::cuda), run(c, x)) <= tolerance);
    ++tried;
  }
  return tried;
}

// Hides a value from the compiler, so that it cannot remove the fault.
template <class T>
T hidden(T value) {
  volatile T kept = value;
  return kept;
}

// Runs the kernel in a block of one warp.
void by_one_warp(const std::function<void()>& kernel) { emulate::run(1, cuda::warp, kernel); }

}  // namespace

TEST_CASE("sanitizers: all ops, on the CPU and through the fast CUDA kernels") {
  const int tried = run_both(cuda_tolerance, [](const OpCase&) { return true; });
  CHECK(tried > 300);
  fmt::print("sanitizers: {} of {} cases\n", tried, op_cases().size());
}

TEST_CASE("sanitizers: products on tensor cores") {
  const MatmulPrecision rounded(Device::cuda, Rounding::tf32x3);
  CHECK(run_both(cuda_tolerance, has_products) > 10);
}

TEST_CASE("sanitizers: the naive CUDA kernels") {
  add_backend(Device::cuda, cuda::as_naive_backend());
  const auto has_naive = [](const OpCase& c) {
    return c.kernel == "attention" || c.kernel == "linear" || c.kernel == "norm";
  };
  CHECK(run_both(cuda_tolerance, has_naive) > 20);
  add_backend(Device::cuda, cuda::as_backend());
}

// Each of these must end the program with a report.
TEST_CASE("planted: the place past a buffer is written" * doctest::skip()) {
  const Block block(33);
  block.get()[hidden(33)] = 1;
}
TEST_CASE("planted: scratch memory that was not requested is read" * doctest::skip()) {
  scratch(3, 100);
  CHECK(scratch(3, 10)[hidden(10)] == 0);
}
TEST_CASE("planted: a kernel writes the place past a buffer of the GPU" * doctest::skip()) {
  const Quick quick;
  const Tensor y = Tensor::full({33}, 0, Device::cuda);
  by_one_warp([&] { y.data()[hidden(33)] = 1; });
}
TEST_CASE("planted: a kernel computes a place from an index that was not found" * doctest::skip()) {
  by_one_warp([] {
    const int down = cuda::warp_max(hidden(-1)) - std::numeric_limits<int>::max();
    CHECK(hidden(down) * 5 < 0);
  });
}
TEST_CASE("planted: a kernel reads shared memory through a null pointer" * doctest::skip()) {
  by_one_warp([] { CHECK((*hidden<emulate::Shared<int>*>(nullptr))[0] == 0); });
}

}  // namespace poslab::test
