// Runs and measurements behind the artifacts of the gap shift, which python/poslab/papers/gap_shift.py
// draws. Randomized positions keep the positions of longer strings in distribution, but not the gaps between
// neighbours: n slots of a pool of N are (N + 1) / (n + 1) apart on average. So length, gap and pool depend on each
// other: a longer string with the gaps of a shorter one needs a larger pool.
#pragma once
#include "lab/papers/artifact.h"
#include "lab/papers/measured.h"

namespace poslab::reproduce::gap_shift {

// A sampler for training; the first is uniform sampling, to which the others are compared.
struct Training {
  std::string name, positions;
};
std::vector<Training> trainings(const Choices& defaults);
// Test positions in equal steps over the trained range: float_midpoints for random floats, else evenly_spread.
std::string even_positions(const Choices& run);

Trials of_uniform(const Choices& defaults);  // three tasks x three encodings, uniform sampling alone
Trials of_matched(const Choices& defaults);  // the same with every sampler of trainings()

// The trained models that differ only in the seed.
struct Setting {
  std::string task, encoding;
  Training training;
  std::vector<const Outcome*> models;
};
std::vector<Setting> settings(const Outcomes&, const Choices& defaults);  // the plan's settings, in the order of tables
Choices on_task(Choices defaults, const std::string& task);

std::vector<int> lengths(const Choices&);  // all tested lengths: half the longest trained one, that one, twice it, ...
double own_gap(const Choices&, int length);  // mean gap of uniform sampling: (N + 1) / (n + 1)
std::string scattered(double gap);          // "scattered:gap=2.5"
int strings(const Choices&);                 // strings for each cell of a grid

double majority(const Choices& on_task, int length);  // accuracy of the most frequent symbol of each slot

// Artifact::measured, a function for each artifact: the gaps of samplers, and the accuracies of trained models by seed,
// at other positions than in training. The measurements of a model are kept in its run folder, in gaps.json.
Json gaps(const Outcomes&, const Choices& defaults, const std::string& folder),
    grid(const Outcomes&, const Choices& defaults, const std::string& folder),
    first(const Outcomes&, const Choices& defaults, const std::string& folder),
    matched(const Outcomes&, const Choices& defaults, const std::string& folder);

}  // namespace poslab::reproduce::gap_shift
