// Range evaluation as a run does it: all its lengths, with a bar on stderr, and stopped by a signal.
#pragma once
#include "experiment/evaluate.h"

namespace poslab {

// config.whole("eval_samples") strings at each length of config.lengths("eval_lengths"). A signal throws Interrupted.
std::vector<AtLength> evaluate(const State&);

}  // namespace poslab
