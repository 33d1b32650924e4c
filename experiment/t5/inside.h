// The inspection of a T5: the attention of its encoder.
#pragma once
#include "experiment/dispersion.h"
#include "experiment/t5/t5.h"

namespace poslab::t5 {

// The encoder on `samples` questions of the test of each of the run's tasks, at the positions of a test.
Probed probed(const State&, int samples);

}  // namespace poslab::t5
