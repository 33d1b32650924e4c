// One struct has everything that is tested about an op: its inputs, the op, and its formula computed slowly in double,
// by an author who has not seen the kernel. tests/autograd/ops.cpp tests the rest: values, gradients, determinism,
// instruction sets. tests/op_cases/STEM.cpp has the cases of core/cpu/STEM.cpp.
#pragma once
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "autograd/composed.h"
#include "autograd/ops.h"

namespace poslab::test {

// The arrays of references: dense, row-major, x(i, j, k) with any number of dimensions.
struct Array {
  Shape shape;
  std::vector<double> at;
  Array() = default;
  explicit Array(Shape s, double value = 0) : shape(std::move(s)), at(size_t(size_of(shape)), value) {}
  template <class... Index>
  double& operator()(Index... index) {
    size_t place = 0, d = 0;
    ((place = place * size_t(shape[d++]) + size_t(index)), ...);
    return at[place];
  }
};

using Tensors = std::vector<Tensor>;
using Arrays = std::vector<Array>;
struct Range { double low = -1, high = 1; };

struct OpCase {
  std::string kernel;                                 // the forward kernel, as in core/kernels.h
  std::string name;                                   // variant and shapes
  std::vector<Shape> shapes;                          // shapes of the inputs, which are drawn uniformly from `ranges`
  std::function<Tensor(const Tensors&)> op;
  std::function<Array(Arrays)> reference;
  std::function<Tensor(const Tensors&)> twin = {};    // the composed form of a fused op
  std::vector<Range> ranges = {};                     // one for each input; default: -1 .. 1
  double floor = 1;                                   // values may be off by 1e-5 (|value| + floor), 1e-12 in double
  bool differentiable = true;
  double step = 1e-4;                                 // step of central differences; small for formulas with kinks
  bool of_gpu = false;                                // only a GPU has the kernel; a CPU runs its parts
  double flops = 0;                                   // FLOPs of one forward pass; 0: speed counts bytes instead
};

// Cases for tests have small or odd sizes; those for bench/kernels.cpp have sizes of training, and need no reference.
enum class For { tests, bench };
const std::vector<OpCase>& op_cases(For = For::tests);

// A file of cases has at namespace level: const Cases softmax([](std::vector<OpCase>& all) { ... });
struct Cases {
  using Make = void (*)(std::vector<OpCase>& all);
  explicit Cases(Make, For = For::tests);
};

// Integers 0 .. below-1, a pure function of the number `site`.
std::vector<int> random_ids(int64_t n, int below, uint32_t site);
// The inputs of a case: uniform, rounded to real, a pure function of the case's name.
Tensors inputs(const OpCase&);
Arrays in_double(const Tensors&);

}  // namespace poslab::test
