// Training (spec B.3): one length for each step, a fresh batch, mean cross-entropy over all output slots, Adam.
#pragma once
#include "lab/run_folder.h"
#include "tasks/batch.h"

namespace poslab {

struct Step {
  int length;
  double loss, grad_norm;
  Score score;
};

// Step number state.adam.step. All it draws is keyed by (seed, step), so it is the same after any resume. Throws
// Failure when the loss or the gradient is no longer a number, before the weights of a checkpoint are spoilt.
Step train_step(State&);

struct Speed {
  int64_t steps = 0;
  double seconds = 0;
};  // of this process; a resumed run did more

// Steps up to config.steps, with metrics and checkpoints into the run folder and a bar on stderr. A signal throws
// Interrupted after a last checkpoint.
Speed train(const RunFolder&, State&);

}  // namespace poslab
