#include "experiment/step.h"

#include "autograd/tape.h"
#include "core/backend.h"
#include "core/stop.h"
#include "encodings/samplers.h"
#include "experiment/build.h"
#include "experiment/choice_table.h"
#include "tasks/curriculum.h"
#include "tasks/task.h"

namespace poslab {

int draw_length(const RunSpec& c, int64_t step) {
  return training_length({c["curriculum"], c.whole("train_length"), c.count("steps")}, uint64_t(c.count("seed")), step);
}

PositionSample draw_positions(const RunSpec& c, int64_t step, int slots, const Ids& tokens) {
  return draw(c, at_step(sampler(c), step, slots),
              stream(uint64_t(c.count("seed")), Purpose::positions, uint64_t(step)), c.whole("batch"), slots, tokens);
}

StepInputs draw_step(const RunSpec& c, int64_t step) { return draw_step(c, step, draw_length(c, step)); }

StepInputs draw_step(const RunSpec& c, int64_t step, int length) {
  Batch batch = make_batch(task(c["task"]), c.whole("batch"), length,
                           stream(uint64_t(c.count("seed")), Purpose::tokens, uint64_t(step)));
  PositionSample positions = draw_positions(c, step, batch.tokens.shape()[1], batch.tokens);
  const bool relative = has(reads(c.scheme), Reads::distances | Reads::offset_table);
  for (int layer = 0; layer < c.whole("layers"); ++layer)
    if (const Positions& p = positions.at_layer(layer); relative) p.distances();
  return {length, std::move(batch), std::move(positions)};
}

PendingStep start_step(State& state, StepInputs inputs, Trace* trace) {
  const RunSpec& c = state.config;
  const int64_t step = state.adam.step;
  state.adam.lr = c.number("lr") * cooled(c, step);
  Tensor logits, loss;
  // A GPU's steps are short, and recorded; and a trace sees no result that is left half computed.
  Stoppable until_update(state.params.device() == Device::cpu && !trace);
  const MatmulPrecision as_this_run = state.matmul_precision();
  const auto work = [&] {
    logits = loss = {};
    const Dropout dropout{real(c.number("dropout")),
                          stream(uint64_t(c.count("seed")), Purpose::dropout, uint64_t(step))};
    state.params.clear_grads();
    logits = state.net(inputs.batch.tokens, inputs.batch.outputs, {inputs.positions, dropout, trace});
    loss = cross_entropy(logits, inputs.batch.targets);
    backward(loss);
    until_update.complete();
    state.adam.update(state.params, trace);
  };
  if (trace)
    work();
  else
    backend(state.params.device()).step(work);
  ++state.adam.step;
  return {step, std::move(inputs), AsyncRead(loss), AsyncRead(logits), AsyncRead(state.adam.squares)};
}

Step finish_step(const RunSpec& c, PendingStep pending) {
  Step s{};
  s.length = pending.inputs.length;
  s.loss = double(pending.loss.result()[0]);
  const std::vector<real> logits = pending.logits.result();
  s.score = score(logits.data(), int(logits.size()) / int(pending.inputs.batch.targets.size()), pending.inputs.batch);
  s.grad_norm = Adam::norm(pending.squares.result());
  stop_if_diverged(c, pending.number, s.loss, s.grad_norm, s.length);
  return s;
}

}  // namespace poslab
