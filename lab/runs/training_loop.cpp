#include "lab/runs/training_loop.h"

#include <fmt/format.h>

#include <filesystem>

#include "autograd/tape.h"
#include "core/profile.h"
#include "core/stop.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/runs/training_clock.h"

namespace poslab {

std::optional<double> train(const RunFolder& run, const TrainingPlan& plan, Trainee& trainee) {
  const int64_t total = plan.steps, first = trainee.done();
  StepLog metrics(run, "metrics.jsonl", first);
  TrainingClock clock(run, first);
  int64_t saved = first, finished = first;
  const bool keep = plan.keep_checkpoints || std::filesystem::is_directory(run.file("checkpoints"));
  if (keep) make_folder(run.file("checkpoints"));
  if (keep && first == 0) write_file(run.kept_checkpoint(0), trainee.checkpoint());
  const auto save = [&](bool due) {
    const std::string bytes = trainee.checkpoint();
    if (keep && due) write_file(run.kept_checkpoint(trainee.done()), bytes);
    metrics.sync();
    trainee.sync();
    clock.save(trainee.done());
    write_file(run.checkpoint(), bytes);
    saved = trainee.done();
  };
  Profile profile("training", "step", plan.device);
  Progress progress("training", "steps", first, total);
  double loss = 0, correct = 0, scored = 0, steps = 0;  // since the last look
  const auto finish_all_but = [&](int64_t left) {
    while (trainee.done() - finished > left) {
      const StepResult s = trainee.finish();
      finished = s.done;
      profile.next();
      loss += s.loss, correct += s.correct, scored += s.scored, ++steps;
      if (progress.due() || finished == total) {
        progress.at(finished, fmt::format("loss {:.4f}  accuracy {:5.1f} %", loss / steps, 100 * correct / scored));
        loss = correct = scored = steps = 0;
      }
      if (finished % plan.log_every == 0 || finished == total) metrics.line(s.line);
    }
  };
  progress.at(first);
  const auto go_on = fmt::format("go on with `poslab {} {}`", plan.resume, shell_word(run.path()));
  while (trainee.done() < total) {
    try {
      trainee.start();
    } catch (const Stopped&) {
      clear_tape();
      finish_all_but(0);
      if (trainee.done() > saved) save(false);
      throw Interrupted(caught_signal(),
                        fmt::format("stopped in the middle of step {} of {}, and all before it is saved; {}",
                                    trainee.done() + 1, total, go_on));
    }
    const int64_t done = trainee.done();
    const bool due = done % plan.checkpoint_every == 0 || done == total;
    const int signal = caught_signal();
    finish_all_but(due || signal || trainee.test_due() ? 0 : int64_t(trainee.may_wait()));
    if (trainee.test_due()) {
      clock.pause();
      try {
        trainee.test(clock.seconds());
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
