#include "experiment/step.h"

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

StepPlan plan(const State& state, const StepInputs& inputs) {
  const RunSpec& c = state.config;
  const int64_t step = state.adam.step;
  const Batch& batch = inputs.batch;
  StepPlan plan{learning_rate(c, step), {}, all_logits};
  const int sequences = batch.tokens.shape()[0];
  for (const Cut& cut : cuts(c, sequences)) {
    const Dropout dropout{real(c.number("dropout")), stream(uint64_t(c.count("seed")), Purpose::dropout, uint64_t(step),
                                                            uint32_t(cut.part) << 12)};  // a mask for each part
    std::shared_ptr<const PositionSample> own;
    if (cut.count() < sequences) own = std::make_shared<const PositionSample>(inputs.positions.part(cut.from, cut.to));
    plan.parts.push_back({[&state, &inputs, own, dropout, tokens = cut.of(inputs.batch.tokens)](Trace* trace) {
                            const PositionSample& positions = own ? *own : inputs.positions;
                            return state.net(tokens, inputs.batch.outputs, {positions, dropout, trace});
                          },
                          cut.of(batch.targets)});
  }
  return plan;
}

namespace {

Step step_of(const StepInputs& inputs, const StepOutcome& done) {
  const int symbols_out = int(done.shown.size()) / int(inputs.batch.targets.size());
  return {inputs.length, done.loss, done.grad_norm, score(done.shown.data(), symbols_out, inputs.batch)};
}

}  // namespace

PendingStep start_step(State& s, StepInputs inputs, Trace* trace) {
  StartedStep started = start_step(s.params, s.adam, plan(s, inputs), s.config, trace);
  return {std::move(inputs), std::move(started)};
}

Step finish_step(const RunSpec& c, PendingStep pending) {
  return step_of(pending.inputs, pending.started.finish(c, pending.inputs.length));
}

StepResult result(const State&, const StepInputs& inputs, const StepOutcome& done) {
  const Score score = step_of(inputs, done).score;
  return {done.done, done.loss, double(score.correct) / double(score.scored), done.grad_norm, double(score.scored),
          inputs.length};
}

}  // namespace poslab
