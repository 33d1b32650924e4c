// The cost of every scheme in a training step, beside the model without positions.
#pragma once
#include <string>

namespace poslab {

// Prints, as CSV, for each scheme whose name contains `filter`: the time of a step on one thread, fastest of several,
// and of a step without positions, run in turn; and the additional work of its kernels per token (core/cost.h).
// 5 layers of width 64, batch 128, 20 input symbols and 20 output slots; with a causal mask, on both sides, where the
// scheme needs one.
void time_schemes(const std::string& filter);

}  // namespace poslab
