// The seconds that a run was trained, over all processes that worked on it: steps, metrics and checkpoints, but no
// tests. They are kept beside the checkpoint and not in it, as equal states shall have equal bytes however often they
// were stopped; and as a line for each checkpoint, so that a kill between the two files costs nothing.
#pragma once
#include <chrono>
#include <optional>

#include "lab/runs/run_folder.h"
#include "lab/runs/values.h"

namespace poslab {

class TrainingClock {
 public:
  // Runs from here on. step: that of the checkpoint.
  TrainingClock(const RunFolder&, int64_t step);
  // Of the steps that led to the present state: steps lost in a kill and repeated count once. Absent if clock.jsonl is
  // missing or damaged.
  std::optional<double> seconds() const;
  void pause();
  void resume();
  // On disk; called before the checkpoint. logs: checksums of the other files of lines up to this step, by their names.
  void save(int64_t step, const Values& logs);
  // Throws Failure where a log has other lines than at the checkpoint. One without lines came as a checkpoint alone.
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
