// Training as a run: step after step (experiment/step.h), with all that is written, shown and stopped in between.
#pragma once
#include <optional>

#include "lab/runs/run_folder.h"

namespace poslab {

// Steps up to config.count("steps"), with metrics, tests and checkpoints into the run folder and a bar on stderr.
// Returns the seconds of training since step 0, if they are known (lab/runs/training_clock.h). A signal throws
// Interrupted after a last checkpoint. A trace has every step, but not the tests; what a change throws ends the
// training as it is saved last.
std::optional<double> train(const RunFolder&, State&, Trace* = nullptr);

}  // namespace poslab
