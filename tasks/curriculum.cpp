// The four curricula of the Chomsky-hierarchy code (spec B.1), each made to cover 1 .. longest.
// That code's general form has more parameters (first length, amount, any set of lengths); none is needed here.
#include "tasks/curriculum.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/names.h"
#include "core/random.h"

namespace poslab {
namespace {

int uniform(const CurriculumSpec& spec, Rng& rng, int64_t) { return rng.between(1, spec.longest); }

int fixed(const CurriculumSpec& spec, Rng&, int64_t) { return spec.longest; }

// 1 + floor(step / (steps / longest)): "regular increase" from 1 by 1, spread so that the run ends with the longest.
// This is the plainer of its two forms: the current length, not a draw from all lengths so far.
int increasing(const CurriculumSpec& spec, Rng&, int64_t step) {
  return int(1 + std::min(step, spec.steps - 1) * spec.longest / spec.steps);
}

// P(length) in proportion to tau^length. The code leaves tau to its user; ours, 0.9, makes 9.4 the mean of 1 .. 40.
int reverse_exponential(const CurriculumSpec& spec, Rng& rng, int64_t) {
  constexpr double tau = 0.9;
  // P(length > n) = (tau^n - tau^longest) / (1 - tau^longest), set equal to u and solved for n
  const double all = 1 - std::pow(tau, spec.longest);
  const double n = std::log(1 - rng.uniform() * all) / std::log(tau);
  return std::clamp(1 + int(n), 1, spec.longest);
}

struct Entry {
  Curriculum about;
  int (*length)(const CurriculumSpec&, Rng&, int64_t step);
};
const std::vector<Entry>& entries() {
  static const std::vector<Entry> list = {
      {{"uniform", "all lengths equally often"}, uniform},
      {{"fixed", "always the longest", true}, fixed},
      {{"increasing", "from 1 to the longest, each for an equal part of the run"}, increasing},
      {{"reverse_exponential", "each length 0.9 times as often as the one below"}, reverse_exponential},
  };
  return list;
}

}  // namespace

int training_length(const CurriculumSpec& spec, uint64_t seed, int64_t step) {
  if (spec.longest < 1) bad_input("curriculum: longest length {}; ask for at least 1", spec.longest);
  if (spec.steps < 1) bad_input("curriculum: a run of {} steps; ask for at least 1", spec.steps);
  Rng rng(stream(seed, Purpose::length, uint64_t(step)));
  std::vector<std::string> known;
  for (const auto& [about, length] : entries()) {
    if (about.name == spec.name) return length(spec, rng, step);
    known.push_back(about.name);
  }
  bad_input("{}", unknown("curriculum", spec.name, known));
}

const std::vector<Curriculum>& all_curricula() {
  static const std::vector<Curriculum> list = [] {
    std::vector<Curriculum> all;
    for (const Entry& entry : entries()) all.push_back(entry.about);
    return all;
  }();
  return list;
}

}  // namespace poslab
