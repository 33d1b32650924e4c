// What every scheme adds to a training step of the model without positions.
#pragma once
#include <string>

namespace poslab {

// Prints, as CSV, for each scheme whose name contains `filter`: what a step of it takes on one thread, fastest of
// several, and the same of a step without positions, run in turn; and what its kernels have to do more than those
// without, a token (core/cost.h). 5 layers of width 64, batch 128, 20 input symbols and 20 output slots; with a causal
// mask, on both sides, where the scheme needs one.
void time_schemes(const std::string& filter);

}  // namespace poslab
