// What the artifacts of the gap shift share. Randomized positions keep the positions of longer strings in distribution,
// but not the gaps between neighbours: n slots of a pool of N are (N + 1) / (n + 1) apart on average. Length, gap and
// the pool are tied by that: a longer string with the gaps of a shorter one needs a larger pool.
#pragma once
#include "lab/papers/measured.h"
#include "lab/papers/wording.h"

namespace poslab::reproduce::gap_shift {

// A sampler that models are trained with; the first is uniform sampling, which the others are compared with.
struct Training {
  std::string name, positions;
};
std::vector<Training> trainings(const Choices& defaults);
// Test positions in equal steps over what a run was trained with: for random floats their published test, else
// evenly_spread.
std::string even_positions(const Choices& run);

Trials of_uniform(const Choices& defaults);  // three tasks x three encodings, uniform sampling alone
Trials of_matched(const Choices& defaults);  // the same with every sampler of trainings()

// The trained models that differ in the seed alone.
struct Setting {
  std::string task, encoding;
  Training training;
  Summary models;
};
std::vector<Setting> settings(const Outcomes&, const Choices& defaults);  // of its plan, in the order of tables
Choices on_task(Choices defaults, const std::string& task);

std::vector<int> lengths(const Choices&);  // half the longest trained one, that one, twice it, ...: all that are tested
double own_gap(const Choices&, int length);  // mean gap of uniform sampling: (N + 1) / (n + 1)
std::string scattered(double gap);          // "scattered:gap=2.5"
int strings(const Choices&);                 // in each cell of a grid

// Accuracy at a length on a scale that makes lengths comparable whose baselines differ: 0 for always the most frequent
// symbol of each slot, 1 for all right.
struct Scale {
  double majority;
  double operator()(double accuracy) const { return (accuracy - majority) / (1 - majority); }
};
Scale scale(const Choices& on_task, int length);

struct Test {
  int length;
  std::string positions;
};
// Tests trained models, and keeps what is measured in their run folders, in gaps.json.
class Tests {
 public:
  explicit Tests(const std::vector<Setting>&);  // all that will be tested
  // For each test the accuracy of each model, by its seed, on the first `strings` strings that range evaluation has at
  // this length. A signal throws Interrupted.
  std::vector<BySeed> operator()(const Setting&, const std::vector<Test>&, int strings);

 private:
  Measured measured_;
};

using reproduce::difference, reproduce::mean, reproduce::values;
BySeed average(const std::vector<BySeed>&);       // of the seeds that all have

// What it costs to change the gap at the same length, and the length at the same gap, as fractions of Scale. Says which
// costs more if the interval of their difference over seeds excludes zero, and otherwise that it is inconclusive; if
// neither costs anything, that.
std::string which_first(const BySeed& by_gap, const BySeed& by_length);
// "log density +1.2 points, [0.3, 2.0]: ahead"
std::string ahead_or_behind(const std::string& name, const BySeed& difference);

// The artifacts, a file each.
Section gaps(const Outcomes&, const Choices&), grid(const Outcomes&, const Choices&),
    first(const Outcomes&, const Choices&), matched(const Outcomes&, const Choices&);

}  // namespace poslab::reproduce::gap_shift
