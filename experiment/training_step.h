// A step of training, the same for all kinds of run and on all devices: forward, backward, update.
#pragma once
#include <functional>
#include <vector>

#include "core/async_read.h"
#include "experiment/run_spec.h"
#include "experiment/step_result.h"
#include "nn/adam.h"
#include "nn/trace.h"

namespace poslab {

// Sequences in memory at once: the batch, or with `accumulate` a part.
struct StepPart {
  std::function<Tensor(Trace*)> logits;  // of these sequences                                                (..., V)
  Ids expected;                          //                                                                      (...)
};
struct StepPlan {
  double lr;
  std::vector<StepPart> parts;
  Tensor (*shown)(const Tensor& logits);  // the part of the logits that the host reads
};
struct StepOutcome {
  int64_t done;            // number of steps, with this one
  double loss, grad_norm;
  std::vector<real> shown;  // StepPlan::shown of each part, in turn
};

// A started step. Its results arrive while later steps run, if the device computes asynchronously.
class StartedStep {
 public:
  // Throws Failure if the loss or the gradient's norm is not finite; that gradient has not changed the weights. length:
  // of the step's strings, for messages
  StepOutcome finish(const Choices&, int length = 0);

 private:
  friend StartedStep start_step(const Params&, Adam&, const StepPlan&, const Choices&, Trace*);
  int64_t number_ = 0;  // from 0
  std::vector<double> shares_;
  std::vector<AsyncRead> losses_, shown_;
  AsyncRead squares_;
};

// Step number adam.step, whose gradient is the mean over all expected tokens, for any number of parts. Throws Stopped
// (core/stop.h), with the weights as before it. A trace has the updates, and the activations of the last part; a GPU
// then computes the step without a recording. Observation changes no bit, except that gradients are summed in another
// order if a trace sees "embedding" or, in decoders and T5s, "attention.out" or "cross.out". If a change throws, the
// step is half done: do not go on with this state, and call clear_tape().
StartedStep start_step(const Params&, Adam&, const StepPlan&, const Choices&, Trace* = nullptr);

// Cuts a batch of B sequences into the run's `accumulate` parts, or into B parts if B is smaller.
struct Cut {
  int part, from, to;  // sequences from .. to - 1
  int count() const { return to - from; }
  Ids of(const Ids&) const;  // their rows
};
std::vector<Cut> cuts(const Choices&, int sequences);
int most_at_once(const Choices&, int sequences);  // the largest number of a step's sequences at once

Tensor most_probable(const Tensor& logits);   // the first of the largest, on the same device          (..., V) -> (...)
Ids most_probable_ids(const Tensor& logits);  // the same, read by the host
inline Tensor all_logits(const Tensor& logits) { return logits; }

// A whole step of a state with config, params and adam; its kind implements plan() and result().
template <class State, class Batch>
StepResult train_step(State& s, const Batch& batch, Trace* trace = nullptr) {
  return result(s, batch, start_step(s.params, s.adam, plan(s, batch), s.config, trace).finish(s.config));
}

}  // namespace poslab
