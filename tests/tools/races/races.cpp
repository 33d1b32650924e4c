// Kernels have no races in global memory (cuda/races.cpp): all cases of all ops, forward and backward, with the fast
// kernels and with cuda/naive/. Planted races must be found.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/error.h"
#include "cuda/backend.h"
#include "tests/support/op_run.h"
#include "tests/tools/races/planted.h"

namespace poslab::test {
namespace {

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& e) {
    return e.what();
  }
  return "";
}

// Runs these cases with a backend, and returns their number.
int run_all(const Backend& gpu, const std::function<bool(const OpCase&)>& wanted) {
  const OneThread one;
  const cuda::DeviceMemoryOpen quick;
  const int blocks_from = cuda::block_kernel_from(1);           // all batches use the kernels of whole encoder blocks
  add_backend(Device::cuda, gpu);
  int tried = 0;
  for (const OpCase& c : op_cases()) {
    if (!wanted(c)) continue;
    INFO(title(c));
    const Tensors x = inputs(c);
    CHECK(error_of([&] { run(c, x, Device::cuda); }) == "");
    ++tried;
  }
  cuda::block_kernel_from(blocks_from);
  return tried;
}

bool is_small(const OpCase& c) {                                 // watching is slow
  int64_t size = 0;
  for (const Shape& shape : c.shapes) size += size_of(shape);
  return size <= (c.of_gpu ? 27000 : 5000);
}

}  // namespace

TEST_CASE("races: planted races in global memory are found, and the same kernels without them pass") {
  add_backend(Device::cuda, cuda::as_backend());
  const Tensor y = Tensor::full({256}, 0, Device::cuda);
  for (int p = 0; p < planted_count; ++p) {
    INFO(std::string(planted[p].name));
    CHECK(error_of([&] { planted[p].launch(y.data(), false); }) == "");
    const std::string said = error_of([&] { planted[p].launch(y.data(), true); });
    INFO(said);
    CHECK(said.starts_with(fmt::format("race in global memory: {}, thread ", planted[p].name)));
    CHECK(said.find("planted.cpp:") != said.rfind("planted.cpp:"));            // it names both places
    CHECK(said.find(planted[p].said) != std::string::npos);
    CHECK(error_of([&] { planted[p].launch(y.data(), false); }) == "");      // the next launch is not affected
  }
}

TEST_CASE("races: the fast kernels have no race in global memory") {
  const int tried = run_all(cuda::as_backend(), is_small);
  CHECK(tried > 300);
  fmt::print("races: {} of {} cases through the fast kernels\n", tried, op_cases().size());
}
TEST_CASE("races: the fast kernels have none in large cases either" * doctest::skip()) {
  CHECK(run_all(cuda::as_backend(), [](const OpCase& c) { return !is_small(c); }) > 50);
}

TEST_CASE("races: products on tensor cores have no race in global memory") {
  for (const Rounding how : {Rounding::tf32x3, Rounding::tf32, Rounding::bf16}) {
    INFO(std::string(rounding_names[int(how)]));
    const MatmulPrecision gpu_as(Device::cuda, how);
    const auto has_products = [](const OpCase& c) {
      return is_product(c) || c.kernel.starts_with("encoder_") || c.kernel == "linear_stored";
    };
    CHECK(run_all(cuda::as_backend(), [&](const OpCase& c) { return has_products(c) && is_small(c); }) > 10);
  }
}

TEST_CASE("races: the naive kernels have no race in global memory") {
  const int tried = run_all(cuda::as_naive_backend(), [](const OpCase& c) {
    return is_small(c) && (c.kernel == "attention" || c.kernel == "linear" || c.kernel == "norm");
  });
  CHECK(tried > 20);
  fmt::print("races: {} cases through the naive kernels\n", tried);
}

}  // namespace poslab::test
