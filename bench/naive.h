// Compares the naive CUDA kernels, cuda/naive/, with the fast ones: the time of each op with either.
#pragma once
#include <string>
#include <vector>

#include "core/backend.h"
#include "tests/op_cases/op_case.h"

namespace poslab {

struct Beside {
  std::string kernel, name;                         // name of the OpCase
  struct Seconds { double naive = 0, fast = 0; } forward, backward;
  // the largest difference between their results, relative to the largest number
  double off = 0;
};

// Prints a line for each case whose kernel contains `filter` and exists in `naive`, a backend of Device::cuda, and
// compares it with the fast kernel of backend(Device::cuda). Each case is timed in four ways, each for about `seconds`.
std::vector<Beside> time_naive(const std::vector<test::OpCase>& cases, const Backend& naive, const std::string& filter,
                               double seconds);

}  // namespace poslab
