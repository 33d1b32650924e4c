// One step of training (spec B.3): strings of one length, a fresh batch, mean cross-entropy over all output slots,
// Adam.
// All training on strings goes through here: `poslab train`, the benchmark, the tests.
#pragma once
#include "experiment/state.h"
#include "experiment/training_step.h"
#include "tasks/batch.h"

namespace poslab {

// The inputs of a step. They depend on (seed, step) alone, so they are the same after any resume, and can be drawn
// while the step before is being computed.
struct StepInputs {
  int length;                // length of the input strings
  Batch batch;
  PositionSample positions;  // for all layers
};
StepInputs draw_step(const RunSpec&, int64_t step);              // at the curriculum's length
StepInputs draw_step(const RunSpec&, int64_t step, int length);  // at this length
int draw_length(const RunSpec&, int64_t step);                   // the curriculum's length alone
// the positions alone, for strings of this many slots, or for these tokens
PositionSample draw_positions(const RunSpec&, int64_t step, int slots, const Ids& tokens = {});

struct Step {
  int length = 0;
  double loss = 0, grad_norm = 0;
  Score score;
};

struct PendingStep {
  StepInputs inputs;
  StartedStep started;
};
PendingStep start_step(State&, StepInputs, Trace* = nullptr);  // as in experiment/training_step.h
Step finish_step(const RunSpec&, PendingStep);                  // waits for the step; throws as StartedStep::finish()
StepPlan plan(const State&, const StepInputs&);               // keeps references to both
StepResult result(const State&, const StepInputs&, const StepOutcome&);

}  // namespace poslab
