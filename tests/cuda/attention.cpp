// Attention on tensor cores (cuda/attention_wide.cu): how far off it is in each form of products, and which cases go
// there. Without a GPU the kernels are emulated, as in tests/cuda/backend.cpp.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tests/cuda/helpers.h"
#include "tests/support/op_run.h"

#ifndef POSLAB_DOUBLE
namespace poslab::test {
namespace {

// Up to 128 channels, and neither r nor biases of queries: by the names and shapes of tests/op_cases/attention.cpp.
bool goes_to_tensor_cores(const OpCase& c, int value_dim) {
  const int channels = std::max(c.shapes[0].back(), value_dim);
  const bool relative = (c.name + " ").find(" r ") != std::string::npos;
  return channels > 8 && channels <= 128 && !relative && c.name.find("biases") == std::string::npos;
}

}  // namespace

// A GPU's attention has no twin on the CPU that rounds the same factors: the double reference and the CPU's fp32 are
// what it is measured by. Which cases are rounded says which way they went.
TEST_CASE("cuda: attention of wide heads is as far off as its factors are rounded, and only there") {
  const OneThread one;
  [[maybe_unused]] const Quick quick;
  struct Form { Rounding how; double least, value, gradient; };
  struct Worst { double value = 0, gradient = 0; };
  const Form forms[] = {{Rounding::fp32, 0, value_tolerance, cuda_tolerance},
                        {Rounding::tf32x3, 0, value_tolerance, cuda_tolerance},
                        {Rounding::tf32, 2e-5, 1e-3, 1e-3},
                        {Rounding::bf16, 2e-4, 2e-2, 2e-2}};
  Worst worst[4];
  int wide = 0, others = 0;
  for (const OpCase& c : op_cases()) {
    if (c.kernel != "attention") continue;
    const Tensors x = inputs(c);
    const Array expected = c.reference(in_double(x));
    const bool rounded = goes_to_tensor_cores(c, expected.shape.back());
    if (!rounded && x[0].size() > 1000) continue;                    // emulation takes its time
    INFO(title(c));
    const Result cpu = run(c, x);
    Result fp32;
    for (const Form& form : forms) {
      CAPTURE(rounding_names[int(form.how)]);
      const MatmulPrecision as(Device::cuda, form.how);
      const Result gpu = run(c, x, Device::cuda);
      if (form.how == Rounding::fp32) fp32 = gpu;
      CHECK(same_bits(gpu, fp32) == (!rounded || form.how == Rounding::fp32 || form.how == Rounding::tf32x3));
      if (!rounded) continue;
      Worst& w = worst[&form - forms];
      w.value = std::max(w.value, value_error(c, gpu.value, expected));
      w.gradient = std::max(w.gradient, difference(gpu, cpu));
      CHECK(w.value <= form.value);
      CHECK(w.gradient <= form.gradient);
    }
    ++(rounded ? wide : others);
  }
  CHECK(wide > 30);
  CHECK(others > 40);
  for (const Form& form : forms) {
    const Worst& w = worst[&form - forms];
    CHECK(w.value >= form.least);
    fmt::print("attention in {}, {} cases: values off by {:.1e} of the reference, and all by {:.1e} of the CPU's\n",
               rounding_names[int(form.how)], wide, w.value, w.gradient);
  }
}

}  // namespace poslab::test
#endif
