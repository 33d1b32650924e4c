// The run folders that the arguments of `poslab report` name.
#pragma once
#include <string>
#include <vector>

namespace poslab::report {

struct Inputs {
  std::vector<std::string> runs;    // folders of finished runs, without repeats
  std::vector<std::string> passed;  // skipped inputs and the reasons, a sentence each
};

// An argument is a run's folder, a sweep's folder, a folder of runs, or the plan of a sweep. Beside runs, other files
// and unfinished runs are skipped, as patterns like runs/* or runs/sweep/* find them. Throws BadInput if nothing is
// left, or a name does not exist.
Inputs find_runs(const std::vector<std::string>& words);

}  // namespace poslab::report
