// The seconds of training, over all processes that worked on a run: steps, metrics and checkpoints, but no tests. They
// are in a file next to the checkpoint, because equal states have equal bytes however often training was stopped. Each
// checkpoint has its own line there, so that a kill between writing the two files does no harm.
#pragma once
#include <chrono>
#include <optional>

#include "lab/runs/run_folder.h"
#include "lab/runs/values.h"

namespace poslab {

class TrainingClock {
 public:
  // Runs from here on. step: the checkpoint's.
  TrainingClock(const RunFolder&, int64_t step);
  // Seconds of the steps that led to the present state; a lost and repeated step counts once. Absent if clock.jsonl is
  // missing or damaged.
  std::optional<double> seconds() const;
  void pause();
  void resume();
  // Writes to disk; called before the checkpoint. logs: checksums of the run's other StepLogs up to this step, by file
  // name.
  void save(int64_t step, const Values& logs);
  // Throws Failure if a log has other lines than at the checkpoint. An empty log belongs to a run that came as a lone
  // checkpoint.
  void check(const RunFolder&, const Values& logs) const;

 private:
  using Clock = std::chrono::steady_clock;
  StepLog lines_;
  Values logs_;                   // of the checkpoint
  std::optional<double> before_;  // until start_
  bool paused_ = false;
  Clock::time_point start_ = Clock::now();
};

}  // namespace poslab
