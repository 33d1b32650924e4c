// Measurements of trained models, made before a page is drawn. Files in the run folders keep them for later pages.
// Trials name such a file as a test without a command, so that kept.jsonl (lab/runs/sweep/kept.h) contains it, too.
#pragma once
#include "experiment/coverage.h"
#include "experiment/state.h"
#include "lab/files/json.h"
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

// Trained models that differ only in the seed, their configuration except the seed, and the measures of each.
struct Measuring {
  Choices config;
  std::vector<const Outcome*> models;  // by seed
  std::vector<Measure> measures;
};
// For each group, the numbers of each measure by seed. The models are measured one by one, with a bar on stderr.
// file: in the run folders, "gaps.json". A signal throws Interrupted.
std::vector<std::vector<BySeed>> measured(const std::string& file, const std::vector<Measuring>&);

Json counts(const Histogram&);  // [[value, count], ...]
// Lengths after `from` up to `to` in n equal steps, without repeats.
std::vector<int> steps_beyond(int from, int to, int n);

}  // namespace poslab::reproduce
