// Measurements of trained models before a page is drawn. They are kept in the run folders, and not repeated;
// trials name the file as a test without a command, so that kept.jsonl (lab/runs/sweep/kept.h) has it, too.
#pragma once
#include "experiment/state.h"
#include "lab/files/json.h"
#include "lab/files/progress.h"
#include "lab/papers/outcomes.h"

namespace poslab::reproduce {

// The object in a file; without a file, the result of `measure`, which is then written there. Throws Failure for a
// damaged file; a signal throws Interrupted.
Json record(const std::string& path, const std::function<Json()>& measure);

// A number that a model has, and its name in the file. The state is its own: it may be changed.
struct Measure {
  std::string name;
  std::function<double(State)> of;
};

Json by_seed(const BySeed&);  // {"0": 0.5, ...}

// Asks trained models one after the other, with a bar on stderr.
class Measured {
 public:
  // file: in the run folders, "gaps.json"; models: how many will be asked in all
  Measured(std::string file, int64_t models);
  // Of each measure, the number that each model has, by its seed. A signal throws Interrupted.
  std::vector<BySeed> operator()(const std::vector<const Outcome*>& models, const std::vector<Measure>&);

 private:
  std::string file_;
  Progress progress_;
  int64_t done_ = 0;
};

}  // namespace poslab::reproduce
