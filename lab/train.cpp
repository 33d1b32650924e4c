#include "lab/train.h"

#include <cmath>
#include <future>
#include <nlohmann/json.hpp>

#include "autograd/tape.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/profile.h"
#include "lab/build.h"
#include "lab/checkpoint.h"
#include "lab/files.h"
#include "lab/interrupt.h"
#include "lab/progress.h"
#include "tasks/curriculum.h"
#include "tasks/task.h"

namespace poslab {
namespace {

void stop_if_not_a_number(double x, const char* what, const Step& s, const State& state, int64_t step) {
  if (!std::isfinite(x))
    failure("the {} is {} at step {} (length {}): training has diverged; lower lr (now {}) or clip (now {})", what, x,
            step + 1, s.length, state.config.lr, state.config.clip);
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

Drawn draw_step(const Config& c, int64_t step) {
  const uint64_t seed = uint64_t(c.seed), at = uint64_t(step);
  const int length = training_length({c.curriculum, c.train_length, c.steps}, seed, step);
  Batch batch = make_batch(task(c.task), c.batch, length, stream(seed, Purpose::tokens, at));
  Draw positions = draw(c, train_sampler(c), stream(seed, Purpose::positions, at), c.batch, batch.tokens.shape()[1]);
  const bool relative = encoding(c.encoding).relative;
  for (int layer = 0; layer < c.layers; ++layer)
    if (const Positions& p = positions.at_layer(layer); relative) p.distances();
  return {length, std::move(batch), std::move(positions)};
}

Step train_step(State& state, const Drawn& drawn) {
  const Config& c = state.config;
  const int64_t step = state.adam.step;
  const Pass pass{drawn.positions, {real(c.dropout), stream(uint64_t(c.seed), Purpose::dropout, uint64_t(step))}};
  Step s{};
  s.length = drawn.length;

  state.params.clear_grads();
  const Tensor logits = state.net(drawn.batch.tokens, drawn.batch.outputs, pass);
  const Tensor loss = cross_entropy(logits, drawn.batch.targets);
  backward(loss);
  s.loss = loss.item();
  s.score = score(logits.data(), logits.dim(-1), drawn.batch);
  stop_if_not_a_number(s.loss, "loss", s, state, step);
  s.grad_norm = state.adam.update(state.params);
  stop_if_not_a_number(s.grad_norm, "gradient's norm", s, state, step);
  return s;
}

Speed train(const RunFolder& run, State& state) {
  const int64_t total = state.config.steps, first = state.adam.step;
  int64_t saved = first;
  Metrics metrics(run, first);
  const auto save = [&] {
    metrics.sync();
    write_file(run.checkpoint(), checkpoint_bytes(state));
    saved = state.adam.step;
  };
  Profile profile("training", "step");
  Progress progress("training", "steps", first, total);
  // What the next step needs is drawn on a thread of its own; with one thread for all, when it is due.
  const auto draw_ahead = [&](int64_t step) {
    return std::async(threads() > 1 ? std::launch::async : std::launch::deferred, draw_step, std::cref(state.config), step);
  };
  std::future<Drawn> next;
  if (first < total) next = draw_ahead(first);
  double loss = 0, right = 0, counted = 0, steps = 0;  // since the last look
  while (state.adam.step < total) {
    const Drawn now = next.get();
    if (state.adam.step + 1 < total) next = draw_ahead(state.adam.step + 1);
    const Step s = train_step(state, now);
    profile.next();
    const int64_t done = state.adam.step;
    loss += s.loss, right += double(s.score.right), counted += double(s.score.counted), ++steps;
    if (progress.due() || done == total) {
      progress.at(done, fmt::format("loss {:.4f}  accuracy {:5.1f} %", loss / steps, 100 * right / counted));
      loss = right = counted = steps = 0;
    }
    if (done % state.config.log_every == 0 || done == total) metrics.line(metrics_line(s, done));
    if (done % state.config.checkpoint_every == 0 || done == total) save();
    if (const int signal = caught_signal()) {
      if (saved != done) save();
      throw Interrupted(
          signal, fmt::format("stopped after step {} of {}, which is saved; go on with `poslab resume {}`", done, total,
                              run.path()));
    }
  }
  return {total - first, progress.seconds()};
}

}  // namespace poslab
