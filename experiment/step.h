// One step of training (spec B.3): one length for each step, a fresh batch, mean cross-entropy over all output slots, Adam.
#pragma once
#include "core/async_read.h"
#include "experiment/state.h"
#include "tasks/batch.h"

namespace poslab {

// What a step is trained on. It depends on (seed, step) alone, so it is the same after any resume, and can be drawn while
// the step before is being computed.
struct StepInputs {
  int length;      // of the input
  Batch batch;
  PositionSample positions;  // drawn, for all layers
};
StepInputs draw_step(const Config&, int64_t step);
int draw_length(const Config&, int64_t step);               // its length alone
PositionSample draw_positions(const Config&, int64_t step, int slots);  // its positions alone, for strings of so many slots

struct Step {
  int length;
  double loss, grad_norm;
  Score score;
};

// A step that was pending: its results arrive while the next ones run, if the device goes on by itself.
struct PendingStep {
  int64_t number;  // from 0
  StepInputs drawn;
  AsyncRead loss, logits, squares;
};
// Step number state.adam.step, on what was drawn for it.
PendingStep start_step(State&, StepInputs);
// Waits for it. Throws Failure when the loss or the gradient is no longer a number; its gradient has not spoilt the weights.
Step finish_step(const Config&, PendingStep);

}  // namespace poslab
