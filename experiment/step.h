// One step of training (spec B.3): strings of one length, a fresh batch, mean cross-entropy over all output slots,
// Adam.
// All that trains goes through here: `poslab train`, the benchmark, the tests.
#pragma once
#include "core/async_read.h"
#include "experiment/state.h"
#include "tasks/batch.h"

namespace poslab {

// What a step is trained on. It depends on (seed, step) alone, so it is the same after any resume, and can be drawn
// while the step before is being computed.
struct StepInputs {
  int length;                // of the input strings
  Batch batch;
  PositionSample positions;  // for all layers
};
StepInputs draw_step(const RunSpec&, int64_t step);              // at the curriculum's length
StepInputs draw_step(const RunSpec&, int64_t step, int length);  // at another
int draw_length(const RunSpec&, int64_t step);                   // the curriculum's length alone
// the positions alone, for strings of so many slots, or for these tokens
PositionSample draw_positions(const RunSpec&, int64_t step, int slots, const Ids& tokens = {});

struct Step {
  int length;
  double loss, grad_norm;
  Score score;
};

// A step that has been started: its results arrive while later steps run, if the device computes asynchronously.
struct PendingStep {
  int64_t number;  // from 0
  StepInputs inputs;
  AsyncRead loss, logits, squares;
};
// Step number state.adam.step: forward, backward, update. Throws Stopped (core/stop.h), with the weights as before it.
// A trace has the step's activations and updates; a GPU then computes it without a recording. What is only seen changes
// no bit, except that gradients are summed in another order where "embedding" or, of decoders and T5s, "attention.out"
// and "cross.out" are seen. If a change throws, the step is done by half: do not go on with this state, and
// clear_tape().
PendingStep start_step(State&, StepInputs, Trace* = nullptr);
// Waits for it. Throws Failure when the loss or the gradient's norm is not finite; that gradient has not changed the
// weights.
Step finish_step(const RunSpec&, PendingStep);

}  // namespace poslab
