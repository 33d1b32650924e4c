// Which run folders the words of `poslab report` mean.
#pragma once
#include <string>
#include <vector>

namespace poslab::report {

struct Inputs {
  std::vector<std::string> runs;    // folders of finished runs, each once
  std::vector<std::string> passed;  // inputs passed over, and why: a sentence each
};

// A word is a run's folder, a sweep's folder, a folder of runs, or the plan of a sweep. Beside runs it passes over what
// is no run or not finished, as a pattern like runs/* or runs/sweep/* finds it. Throws BadInput if nothing is left, or
// nothing is there under a name.
Inputs find_runs(const std::vector<std::string>& words);

}  // namespace poslab::report
