// Training as a run, whatever is trained: step after step, with all that is written, shown and stopped in between.
#pragma once
#include <optional>

#include "lab/runs/run_folder.h"

namespace poslab {

// What a step came to.
struct StepResult {
  int64_t done;                                  // steps with this one
  double loss, correct, scored;                  // scored: answers or tokens; correct: how many of them were right
  std::string line;                              // for metrics.jsonl
};

class Trainee {
 public:
  virtual ~Trainee() = default;
  virtual int64_t done() const = 0;              // steps, counted when they are started
  virtual void start() = 0;                      // the next step. Throws Stopped, with the weights as before it
  virtual StepResult finish() = 0;               // of the oldest step that was started and is not finished
  virtual size_t may_wait() const { return 0; }  // steps that need not be finished yet
  virtual std::string checkpoint() const = 0;
  virtual bool test_due() const { return false; }
  virtual void test(std::optional<double> seconds) {}    // may throw Stopped
  virtual void sync() {}                         // what tests wrote, on disk
};

struct TrainingPlan {
  int64_t steps, checkpoint_every, log_every;
  Device device;
  const char* resume;                            // "resume", the command that goes on
  bool keep_checkpoints;                         // also kept if the folder has checkpoints/, so after a resume too
};
// Steps up to plan.steps, with metrics, tests and checkpoints into the run folder and a bar on stderr. Returns the
// seconds of training since step 0, if they are known (lab/runs/training_clock.h). A signal throws Interrupted after a
// last checkpoint.
std::optional<double> train(const RunFolder&, const TrainingPlan&, Trainee&);

}  // namespace poslab
