// Commands of this program, some at once, each as a process of its own. Those of a chain follow one another, as the
// training and the tests of one run do; each leaves a file, and one whose file is there is not run again.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace poslab::reproduce {

struct Step {
  std::string name;                                 // "training"
  std::function<std::vector<std::string>()> words;  // of the command, asked for when it starts
  std::string leaves;                               // a file
  double work = 1;                                  // beside other steps, for the time that is left
};
struct Chain {
  std::string name;  // of its log, FOLDER/NAME.log, which goes away when all is done
  std::vector<Step> steps;
};

bool is_done(const Step&);
bool is_done(const Chain&);
// Does what is left, `jobs` chains at once, with a bar on stderr. Several processes may share a folder, as each chain
// has a claim (lab/runs/sweep/claim.h). Returns the chains that failed, and why; they stop no other, and the next call
// tries them again. At a signal the processes save what they have; then Interrupted is thrown.
std::map<std::string, std::string> run_chains(const std::vector<Chain>&, const std::string& folder, int jobs);

}  // namespace poslab::reproduce
