#include "lab/train.h"

#include <cmath>
#include <deque>
#include <future>
#include <nlohmann/json.hpp>

#include "autograd/tape.h"
#include "core/backend.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/profile.h"
#include "lab/build.h"
#include "lab/checkpoint.h"
#include "lab/curve.h"
#include "lab/files.h"
#include "lab/interrupt.h"
#include "lab/progress.h"
#include "lab/training_clock.h"
#include "tasks/curriculum.h"
#include "tasks/task.h"

namespace poslab {
namespace {

void stop_if_not_a_number(double x, const char* what, const Step& s, const Config& c, int64_t step) {
  if (!std::isfinite(x))
    failure("the {} is {} at step {} (length {}): training has diverged; lower lr (now {}) or clip (now {})", what, x,
            step + 1, s.length, c.lr, c.clip);
}

std::string metrics_line(const Step& s, int64_t step) {
  return nlohmann::ordered_json{{"step", step},
                                {"length", s.length},
                                {"loss", s.loss},
                                {"accuracy", double(s.score.right) / double(s.score.counted)},
                                {"grad_norm", s.grad_norm}}
      .dump();
}

}  // namespace

int draw_length(const Config& c, int64_t step) {
  return training_length({c.curriculum, c.train_length, c.steps}, uint64_t(c.seed), step);
}

PositionSample draw_positions(const Config& c, int64_t step, int slots) {
  return draw(c, train_sampler(c), stream(uint64_t(c.seed), Purpose::positions, uint64_t(step)), c.batch, slots);
}

StepInputs draw_step(const Config& c, int64_t step) {
  const int length = draw_length(c, step);
  Batch batch = make_batch(task(c.task), c.batch, length, stream(uint64_t(c.seed), Purpose::tokens, uint64_t(step)));
  PositionSample positions = draw_positions(c, step, batch.tokens.shape()[1]);
  const bool relative = encoding(c.encoding).relative;
  for (int layer = 0; layer < c.layers; ++layer)
    if (const Positions& p = positions.at_layer(layer); relative) p.distances();
  return {length, std::move(batch), std::move(positions)};
}

PendingStep start_step(State& state, StepInputs drawn) {
  const Config& c = state.config;
  const int64_t step = state.adam.step;
  Tensor logits, loss;
  backend(state.params.device()).step([&] {
    logits = loss = {};
    const Pass pass{drawn.positions, {real(c.dropout), stream(uint64_t(c.seed), Purpose::dropout, uint64_t(step))}};
    state.params.clear_grads();
    logits = state.net(drawn.batch.tokens, drawn.batch.outputs, pass);
    loss = cross_entropy(logits, drawn.batch.targets);
    backward(loss);
    state.adam.update(state.params);
  });
  ++state.adam.step;
  return {step, std::move(drawn), AsyncRead(loss), AsyncRead(logits), AsyncRead(state.adam.squares)};
}

Step finish_step(const Config& c, PendingStep pending) {
  Step s{};
  s.length = pending.drawn.length;
  s.loss = double(pending.loss.result()[0]);
  const std::vector<real> logits = pending.logits.result();
  s.score = score(logits.data(), int(logits.size()) / int(pending.drawn.batch.targets.size()), pending.drawn.batch);
  s.grad_norm = Adam::norm(pending.squares.result());
  stop_if_not_a_number(s.loss, "loss", s, c, pending.number);
  stop_if_not_a_number(s.grad_norm, "gradient's norm", s, c, pending.number);
  return s;
}

std::optional<double> train(const RunFolder& run, State& state) {
  const int64_t total = state.config.steps, first = state.adam.step;
  StepLog metrics(run, "metrics.jsonl", first);
  SmallTests tests(run, state);
  TrainingClock clock(run, first);
  const auto save = [&] {
    metrics.sync();
    tests.sync();
    clock.save(state.adam.step);
    write_file(run.checkpoint(), checkpoint_bytes(state));
  };
  Profile profile("training", "step", state.params.device());
  Progress progress("training", "steps", first, total);
  // What the next step needs is drawn on a thread of its own; with one thread for all, when it is due.
  const auto draw_ahead = [&](int64_t step) {
    return std::async(threads() > 1 ? std::launch::async : std::launch::deferred, draw_step, std::cref(state.config), step);
  };
  std::future<StepInputs> next;
  if (first < total) next = draw_ahead(first);
  std::deque<PendingStep> running;
  const size_t ahead = state.params.device() == Device::cpu ? 0 : 2;   // steps that may wait in a GPU's queue
  double loss = 0, right = 0, counted = 0, steps = 0;                  // since the last look
  const auto finish_all_but = [&](size_t left) {
    for (; running.size() > left; running.pop_front()) {
      const int64_t done = running.front().number + 1;
      const Step s = finish_step(state.config, std::move(running.front()));
      profile.next();
      loss += s.loss, right += double(s.score.right), counted += double(s.score.counted), ++steps;
      if (progress.due() || done == total) {
        progress.at(done, fmt::format("loss {:.4f}  accuracy {:5.1f} %", loss / steps, 100 * right / counted));
        loss = right = counted = steps = 0;
      }
      if (done % state.config.log_every == 0 || done == total) metrics.line(metrics_line(s, done));
    }
  };
  while (state.adam.step < total) {
    StepInputs now = next.get();
    if (state.adam.step + 1 < total) next = draw_ahead(state.adam.step + 1);
    running.push_back(start_step(state, std::move(now)));
    const int64_t done = state.adam.step;
    const bool due = done % state.config.checkpoint_every == 0 || done == total;
    const int signal = caught_signal();
    finish_all_but(due || signal || tests.due() ? 0 : ahead);
    if (tests.due()) {
      clock.pause();
      tests.test(clock.seconds());
      clock.go_on();
    }
    if (due || signal) save();
    if (signal)
      throw Interrupted(
          signal, fmt::format("stopped after step {} of {}, which is saved; go on with `poslab resume {}`", done, total,
                              run.path()));
  }
  return clock.seconds();
}

}  // namespace poslab
