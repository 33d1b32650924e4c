// What is measured of trained models while a page is drawn. It is kept in their run folders, and not measured again.
#pragma once
#include "experiment/state.h"
#include "lab/files/progress.h"
#include "lab/papers/outcomes.h"

namespace poslab::reproduce {

// A number that a model has, and what it is called where it is kept. The state is its own: it may be changed.
struct Measure {
  std::string name;
  std::function<double(State)> of;
};

// Asks trained models one after the other, with a bar on stderr.
class Measured {
 public:
  // file: in the run folders, "gaps.json"; models: how many will be asked in all
  Measured(std::string file, int64_t models);
  // Of each measure, the number that each model has, by its seed. A signal throws Interrupted.
  std::vector<BySeed> operator()(const Summary& models, const std::vector<Measure>&);

 private:
  std::string file_;
  Progress progress_;
  int64_t done_ = 0;
};

}  // namespace poslab::reproduce
