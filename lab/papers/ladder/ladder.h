// The ladder: encodings that are to be above the best of tables 1 and 5 of Ruoss et al. 2023, at the same budget.
// results/ladder/ladder.toml, which travels inside the program, says what is tried, how it is chosen and judged, and
// what was expected; it was committed before the first training.
#pragma once
#include "lab/papers/wording.h"

namespace poslab::reproduce::ladder {

// A candidate, or an opponent, which has no `structure`: what of the tasks it is told.
struct Rung {
  std::string name, encoding, positions, temperature, structure;
};
struct Prediction {
  std::string task;
  double above, accuracy;  // a probability, a fraction
  std::string why;
};
struct Registered {
  int steps, train_length, goal;
  double level;
  Lengths choose, judge;
  std::vector<int64_t> first_seeds, second_seeds;
  std::vector<Rung> candidates, opponents;
  std::vector<Prediction> predictions;  // one for each task
};
const Registered& registered();

// Mean accuracy at those lengths of each of the seeds that is done.
BySeed scores(const Outcomes&, const std::string& task, const Rung&, Lengths, const std::vector<int64_t>& seeds);

// What the first stage decides for a task, when all of its runs there are done; null before.
struct Choice {
  const Rung *candidate = nullptr, *opponent = nullptr;
};
Choice choice(const Outcomes&, const std::string& task);
const Rung* for_all_tasks(const Outcomes&);  // null until all of the first stage is done

// A candidate against its opponent on a task, in the second stage.
struct Contest {
  std::string task;
  const Rung *candidate, *opponent;  // null: not chosen yet
  BySeed ours = {}, theirs = {};
  bool done = false;       // all seeds of both
  double p = 1, holm = 1;  // of flipped signs; after Holm over the tasks. 1 of what is not done
  bool above() const;
};
enum class Family { own_candidate, one_for_all };  // what is compared: each task's choice, or the same for all
std::vector<Contest> contests(const Outcomes&, Family);

Trials first_stage(const Choices& defaults);
std::vector<ValueLists> second_stage(const Outcomes& first, const Choices& defaults);

// The artifacts: what was registered, the first stage, and the second.
Section plan(const Outcomes&, const Choices&), chosen(const Outcomes&, const Choices&),
    verdict(const Outcomes&, const Choices&);

}  // namespace poslab::reproduce::ladder
