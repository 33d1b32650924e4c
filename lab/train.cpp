#include "lab/train.h"

#include <fmt/format.h>

#include <deque>
#include <future>
#include <nlohmann/json.hpp>

#include "autograd/tape.h"
#include "core/parallel.h"
#include "core/profile.h"
#include "core/stop.h"
#include "experiment/step.h"
#include "lab/checkpoint.h"
#include "lab/curve.h"
#include "lab/files.h"
#include "lab/interrupt.h"
#include "lab/progress.h"
#include "lab/shell.h"
#include "lab/training_clock.h"

namespace poslab {
namespace {

std::string metrics_line(const Step& s, int64_t step) {
  return nlohmann::ordered_json{{"step", step},
                                {"length", s.length},
                                {"loss", s.loss},
                                {"accuracy", double(s.score.correct) / double(s.score.scored)},
                                {"grad_norm", s.grad_norm}}
      .dump();
}

}  // namespace

std::optional<double> train(const RunFolder& run, State& state) {
  const int64_t total = state.config.steps, first = state.adam.step;
  StepLog metrics(run, "metrics.jsonl", first);
  SmallTests tests(run, state);
  TrainingClock clock(run, first);
  int64_t saved = first;
  const auto save = [&] {
    metrics.sync();
    tests.sync();
    clock.save(state.adam.step);
    write_file(run.checkpoint(), checkpoint_bytes(state));
    saved = state.adam.step;
  };
  Profile profile("training", "step", state.params.device());
  Progress progress("training", "steps", first, total);
  // What the next step needs is drawn on a thread of its own; with one thread for all, when it is due.
  const auto draw_ahead = [&](int64_t step) {
    return std::async(threads() > 1 ? std::launch::async : std::launch::deferred,
                      [&state, step] { return draw_step(state.config, step); });
  };
  std::future<StepInputs> next;
  if (first < total) next = draw_ahead(first);
  std::deque<PendingStep> running;
  const size_t ahead = state.params.device() == Device::cpu ? 0 : 2;   // steps that may wait in a GPU's queue
  double loss = 0, correct = 0, scored = 0, steps = 0;                  // since the last look
  const auto finish_all_but = [&](size_t left) {
    for (; running.size() > left; running.pop_front()) {
      const int64_t done = running.front().number + 1;
      const Step s = finish_step(state.config, std::move(running.front()));
      profile.next();
      loss += s.loss, correct += double(s.score.correct), scored += double(s.score.scored), ++steps;
      if (progress.due() || done == total) {
        progress.at(done, fmt::format("loss {:.4f}  accuracy {:5.1f} %", loss / steps, 100 * correct / scored));
        loss = correct = scored = steps = 0;
      }
      if (done % state.config.log_every == 0 || done == total) metrics.line(metrics_line(s, done));
    }
  };
  progress.at(first);
  const auto go_on = fmt::format("go on with `poslab resume {}`", shell_word(run.path()));
  while (state.adam.step < total) {
    try {
      StepInputs now = next.get();
      if (state.adam.step + 1 < total) next = draw_ahead(state.adam.step + 1);
      running.push_back(start_step(state, std::move(now)));
    } catch (const Stopped&) {
      clear_tape();
      finish_all_but(0);
      if (state.adam.step > saved) save();
      throw Interrupted(caught_signal(),
                        fmt::format("stopped in the middle of step {} of {}, and all before it is saved; {}",
                                    state.adam.step + 1, total, go_on));
    }
    const int64_t done = state.adam.step;
    const bool due = done % state.config.checkpoint_every == 0 || done == total;
    const int signal = caught_signal();
    finish_all_but(due || signal || tests.due() ? 0 : ahead);
    if (tests.due()) {
      clock.pause();
      try {
        tests.test(clock.seconds());
      } catch (const Stopped&) {
        throw Interrupted(caught_signal(), fmt::format("stopped in the test after step {}; {}", done, go_on));
      }
      clock.resume();
    }
    if (due || signal) save();
    if (signal)
      throw Interrupted(signal, fmt::format("stopped after step {} of {}, which is saved; {}", done, total, go_on));
  }
  return clock.seconds();
}

}  // namespace poslab
