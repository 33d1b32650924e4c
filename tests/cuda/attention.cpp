// Attention on tensor cores (cuda/attention_wide.cu): its error with each rounding of products, and which cases use it.
// Without a GPU the kernels are emulated, as in tests/cuda/backend.cpp.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tests/cuda/helpers.h"
#include "tests/support/op_run.h"

#ifndef POSLAB_DOUBLE
namespace poslab::test {
namespace {

// Attention of up to 128 channels without r or query biases, by the names and shapes in tests/op_cases/attention.cpp.
bool goes_to_tensor_cores(const OpCase& c, int value_dim) {
  const int channels = std::max(c.shapes[0].back(), value_dim);
  const bool relative = (c.name + " ").find(" r ") != std::string::npos;
  return channels > 8 && channels <= 128 && !relative && c.name.find("biases") == std::string::npos;
}

}  // namespace

// The CPU's attention does not round the factors that a GPU's rounds, so this compares with the double reference and
// with the CPU's fp32. A case used the tensor cores if its bits differ between TF32 and bf16. In fp32, which is 3xTF32,
// every third case runs here; tests/cuda/backend.cpp has the same bounds for all cases.
TEST_CASE("cuda: attention of wide heads has the error of its rounded factors; other attention rounds nothing") {
  const OneThread one;
  [[maybe_unused]] const Quick quick;
  struct Form { Rounding how = Rounding::fp32; double least = 0, most = 0, value = 0, gradient = 0; };
  Form forms[] = {{Rounding::tf32, 2e-5, 1e-3}, {Rounding::bf16, 2e-4, 2e-2}};
  int wide = 0, others = 0;
  for (const OpCase& c : op_cases()) {
    if (c.kernel != "attention") continue;
    const Tensors x = inputs(c);
    const Array expected = c.reference(in_double(x));
    const bool rounded = goes_to_tensor_cores(c, expected.shape.back());
    if (!rounded && x[0].size() > 1000) continue;                    // emulation is slow
    INFO(title(c));
    const auto in = [&](Rounding how) {
      const MatmulPrecision as(Device::cuda, how);
      return run(c, x, Device::cuda);
    };
    const Result results[] = {in(Rounding::tf32), in(Rounding::bf16)};
    CHECK(same_bits(results[0], results[1]) == !rounded);
    if (++(rounded ? wide : others) % 3 == 0) {
      const Result fp32 = in(Rounding::fp32);
      CHECK(same_bits(in(Rounding::tf32x3), fp32));
      CHECK(same_bits(results[0], fp32) == !rounded);
    }
    if (!rounded) continue;
    const Result cpu = run(c, x);
    for (Form& f : forms) {
      const Result& gpu = results[&f - forms];
      f.value = std::max(f.value, value_error(c, gpu.value, expected));
      f.gradient = std::max(f.gradient, difference(gpu, cpu));
      CHECK(std::max(f.value, f.gradient) <= f.most);
    }
  }
  CHECK(wide > 30);
  CHECK(others > 40);
  for (const Form& f : forms) {
    CHECK(f.value >= f.least);
    fmt::print("attention in {}, {} cases: values off by {:.1e} of the reference, and all by {:.1e} of the CPU's\n",
               rounding_names[int(f.how)], wide, f.value, f.gradient);
  }
}

}  // namespace poslab::test
#endif
