// Measurements of trained models before a page is drawn. They are kept in the run folders, and not repeated. Trials
// name the file as a test without a command, so that kept.jsonl (lab/runs/sweep/kept.h) contains it, too.
#pragma once
#include "experiment/state.h"
#include "lab/files/json.h"
#include "lab/files/progress.h"
#include "lab/papers/outcomes.h"

namespace poslab::reproduce {

// The object in a file; without a file, the result of `measure`, which is then written there. Throws Failure for a
// damaged file; a signal throws Interrupted.
Json record(const std::string& path, const std::function<Json()>& measure);

// A number of a model, and its name in the file. The function may change the state.
struct Measure {
  std::string name;
  std::function<double(State)> of;
};

Json by_seed(const BySeed&);  // {"0": 0.5, ...}

// Measures trained models one after the other, with a bar on stderr.
class Measured {
 public:
  // file: in the run folders, "gaps.json"; models: their number
  Measured(std::string file, int64_t models);
  // For each measure, the number of each model, by seed. A signal throws Interrupted.
  std::vector<BySeed> operator()(const std::vector<const Outcome*>& models, const std::vector<Measure>&);

 private:
  std::string file_;
  Progress progress_;
  int64_t done_ = 0;
};

}  // namespace poslab::reproduce
