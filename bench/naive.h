// The naive CUDA kernels, cuda/naive/, beside the fast ones: the time of each op with either.
#pragma once
#include <string>
#include <vector>

#include "core/backend.h"
#include "tests/op_cases/op_case.h"

namespace poslab {

struct Beside {
  std::string kernel, name;                         // name of the OpCase
  struct Seconds { double naive = 0, fast = 0; } forward, backward;
  // the largest difference of their results, relative to the largest number
  double off = 0;
};

// Prints a line for each case whose kernel contains `filter` and exists in `naive`, a backend of Device::cuda, beside
// the fast kernel of backend(Device::cuda). Each case is timed for about `seconds` in four ways.
std::vector<Beside> time_naive(const std::vector<test::OpCase>& cases, const Backend& naive, const std::string& filter,
                               double seconds);

}  // namespace poslab
