// A worker runs the trials of a shard in FOLDER/ID: several at once, each in its own process (`poslab train` or
// `poslab resume`), or a population in one process (lab/runs/sweep/population.h). A trial's tests follow its training.
// Any number of workers may share a shard; claims keep a trial from running twice at once.
#pragma once
#include "lab/runs/sweep/state.h"

namespace poslab::sweep {

struct Work {
  Shard shard;
  int jobs = 1;
  int threads = 0;     // threads of each trial; 0: the cores divided by the number of simultaneous trials
  bool retry = false;  // run failed trials again
  bool force = false;  // even trials whose memory or time seem too large
  int population = 0;  // trials in one process, of `poslab train`; 0: a process for each
  std::string device = {};  // "": each trial's
};

// Makes the folder. Returns when all trials of the shard are done, failed, or claimed by other workers. Failed trials
// are recorded (ID.failed) and stop no other. At SIGINT, SIGTERM or SIGUSR1 the trials save their state; then
// Interrupted is thrown. Throws Failure if the folder cannot be written.
std::vector<TrialState> run_shard(const Plan&, const SweepFolder&, const Work&);  // states of the plan at the end

}  // namespace poslab::sweep
