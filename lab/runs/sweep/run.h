// A worker: does the trials of a shard, some at once, each as a process of its own (`poslab train` or `poslab
// resume`) in FOLDER/ID, or a population of them in one process (lab/runs/sweep/population.h). A trial's tests follow
// its training, one after the other. Any number of workers may share a shard; the claims see to it that no trial runs
// twice at once.
#pragma once
#include "lab/runs/sweep/state.h"

namespace poslab::sweep {

struct Work {
  Shard shard;
  int jobs = 1;
  int threads = 0;     // of each trial; 0: the cores divided by the trials that run at once
  bool retry = false;  // try failed ones again
  bool force = false;  // also trials that seem too large for the memory, or to take a month
  int population = 0;  // so many trials in one process, of `poslab train`; 0: each in a process of its own
  std::string device = {};  // "": that of each trial
};

// Makes the folder. Returns when no trial of the shard is left that is free to be done: all are done, failed, or
// claimed by other workers. Trials that fail are noted (ID.failed) and stop nothing. At SIGINT, SIGTERM
// or SIGUSR1 the trials save their state; then Interrupted is thrown. Throws Failure where the folder cannot be
// written.
std::vector<TrialState> run_shard(const Plan&, const SweepFolder&, const Work&);  // states of the plan at the end

}  // namespace poslab::sweep
