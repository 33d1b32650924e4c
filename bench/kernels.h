// How fast every op is, forward and backward, at the sizes of the 5-layer model (batch 128, 40 slots).
#pragma once
#include <string>

namespace poslab {

// Prints a table of the timed OpCases (tests/op_case.h) whose kernel contains `filter`.
void time_kernels(const std::string& filter);

}  // namespace poslab
