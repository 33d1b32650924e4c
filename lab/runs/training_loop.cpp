// The training loop of all kinds of run: steps, with files, progress and interruptions in between.
#include <filesystem>
#include <future>

#include "autograd/tape.h"
#include "core/platform/parallel.h"
#include "core/profile.h"
#include "core/stop.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/json.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/runs/curve.h"
#include "lab/runs/run.h"
#include "lab/runs/training_clock.h"

namespace poslab {
namespace {

std::string metrics_line(const StepResult& s) {
  nlohmann::ordered_json line = {{"step", s.done}};
  if (s.length) line["length"] = s.length;
  line["loss"] = s.loss, line["accuracy"] = s.accuracy, line["grad_norm"] = s.grad_norm;
  return line.dump();
}

// Draws the next step's batch on a separate thread or, with one thread for all, when the step begins.
class DrawnAhead {
 public:
  explicit DrawnAhead(const Learner& of) : of_(of) { draw(of.adam().step); }
  std::any take() {
    std::any now = next_.get();
    draw(of_.adam().step + 1);
    return now;
  }

 private:
  void draw(int64_t step) {
    if (step < of_.config().count("steps"))
      next_ = std::async(threads() > 1 ? std::launch::async : std::launch::deferred,
                         [this, step] { return of_.draw(step); });
  }
  const Learner& of_;
  std::future<std::any> next_;
};

}  // namespace

std::optional<double> train(const RunFolder& run, Learner& learner, Trace* trace) {
  const Choices& c = learner.config();
  const int64_t total = c.count("steps"), first = learner.adam().step, checkpoint_every = c.count("checkpoint_every"),
                log_every = c.count("log_every");
  StepLog metrics(run, "metrics.jsonl", first);
  must_reach(metrics.last(), first / log_every * log_every, run.file("metrics.jsonl"));
  TrainingClock clock(run, first);
  SmallTests tests(run, learner);
  const auto logs = [&] {
    Values all = {{"metrics.jsonl", metrics.checksum()}};
    if (const std::string sum = tests.checksum(); !sum.empty()) all["tests.jsonl"] = sum;
    return all;
  };
  clock.check(run, logs());
  DrawnAhead drawn(learner);
  int64_t saved = first, finished = first;
  const bool keep = std::filesystem::is_directory(run.file("checkpoints"));
  const auto save = [&](bool due) {
    const std::string bytes = checkpoint_bytes(learner);
    const int64_t done = learner.adam().step;
    if (keep && due) write_file(run.kept_checkpoint(done), bytes);
    metrics.sync();
    tests.sync();
    clock.save(done, logs());
    write_file(run.checkpoint(), bytes);
    saved = done;
  };
  Profile profile("training", "step", learner.params().device());
  Progress progress("training", "steps", first, total);
  double loss = 0, correct = 0, scored = 0, steps = 0;  // since the last check
  const auto finish_all_but = [&](int64_t left) {
    while (learner.adam().step - finished > left) {
      const StepResult s = learner.finish();
      finished = s.done;
      profile.next();
      loss += s.loss, correct += s.accuracy * s.scored, scored += s.scored, ++steps;
      if (progress.due() || finished == total) {
        progress.at(finished, fmt::format("loss {:.4f}  accuracy {:5.1f} %", loss / steps, 100 * correct / scored));
        loss = correct = scored = steps = 0;
      }
      if (finished % log_every == 0 || finished == total) metrics.line(metrics_line(s));
    }
  };
  progress.at(first);
  const auto go_on = fmt::format("go on with `poslab {} {}`", kind_of(c).command("resume"), shell_path(run.path()));
  while (learner.adam().step < total) {
    try {
      learner.start(drawn.take(), trace);
    } catch (const Stopped&) {
      clear_tape();
      finish_all_but(0);
      if (learner.adam().step > saved) save(false);
      throw Interrupted(caught_signal(),
                        fmt::format("stopped in the middle of step {} of {}, and all steps before it are saved; {}",
                                    learner.adam().step + 1, total, go_on));
    }
    const int64_t done = learner.adam().step;
    const bool due = done % checkpoint_every == 0 || done == total;
    const int signal = caught_signal();
    finish_all_but(due || signal || tests.due() ? 0 : int64_t(learner.may_wait()));
    if (tests.due()) {
      clock.pause();
      try {
        tests.test(clock.seconds());
      } catch (const Stopped&) {
        throw Interrupted(caught_signal(), fmt::format("stopped in the test after step {}; {}", done, go_on));
      }
      clock.resume();
    }
    if (due || signal) save(due);
    if (signal)
      throw Interrupted(signal, fmt::format("stopped after step {} of {}, which is saved; {}", done, total, go_on));
  }
  return clock.seconds();
}

}  // namespace poslab
