// The CUDA kernels for readers, cuda/naive/, beside the fast ones: the time of each op with either.
#pragma once
#include <string>
#include <vector>

#include "core/backend.h"
#include "tests/op_cases/op_case.h"

namespace poslab {

struct Beside {
  std::string kernel, name;                         // of the OpCase
  struct Seconds { double naive = 0, fast = 0; } forward, backward;
  double off = 0;                                   // largest difference of their results, of the largest number of one
};

// Prints a line for each case whose kernel contains `filter` and has a kernel of its own in `naive`, a backend of
// Device::cuda, beside the fast one (backend(Device::cuda)). Each is timed for about `seconds` in four ways.
std::vector<Beside> time_naive(const std::vector<test::OpCase>& cases, const Backend& naive, const std::string& filter,
                               double seconds);

}  // namespace poslab
