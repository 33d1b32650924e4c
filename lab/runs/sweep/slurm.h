// A sweep as a Slurm job array: each task does one shard. Slurm starts, places and requeues; the claims and
// checkpoints of the sweep make any task safe to kill and to submit again.
#pragma once
#include <string>

namespace poslab::sweep {

struct JobArray {
  std::string program, plan, folder;  // paths
  int shards = 1, jobs = 1, threads = 1;
  std::string time;  // as sbatch takes it, "12:00:00"; "": the cluster's own limit
};

// FOLDER/job.sh. A minute before its time is up a task has its trials save their state, and puts itself into the queue
// again; when it is cancelled it has them save it, and ends.
std::string job_script(const JobArray&);
void submit(const std::string& script);  // sbatch SCRIPT, which says the job's number; throws Failure

}  // namespace poslab::sweep
