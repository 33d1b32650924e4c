// A sweep as a Slurm job array: each task does one shard. Slurm starts, places and requeues tasks; claims and
// checkpoints make any task safe to kill and to submit again.
#pragma once
#include <string>

namespace poslab::sweep {

struct JobArray {
  std::string program, plan, folder;  // paths
  int shards = 1, jobs = 1, threads = 1;
  std::string time;  // in the form of sbatch, "12:00:00"; "": the cluster's limit
};

// FOLDER/job.sh. A minute before its time is up a task lets its trials save their state, and requeues itself; a
// cancelled task lets them save it, and ends.
std::string job_script(const JobArray&);
void submit(const std::string& script);  // sbatch SCRIPT, which prints the job's number; throws Failure

}  // namespace poslab::sweep
