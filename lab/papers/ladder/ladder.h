// The ladder: encodings meant to score above the best of tables 1 and 5 of Ruoss et al. 2023, at the same budget.
// ladder.toml, which travels inside the program, has the candidates, the rules that choose and judge them, and the
// expectations; it was committed before the first run. Here are the trials of both stages;
// python/poslab/papers/ladder.py judges and draws.
#pragma once
#include "lab/papers/artifact.h"

namespace poslab::reproduce::ladder {

Trials first_stage(const Choices& defaults);  // throws BadInput if the tests of runs differ from the registered ones
// For each task whose first stage is done: its candidate, the candidate for all tasks, and the opponent, on new seeds.
std::vector<ValueLists> second_stage(const Outcomes& first, const Choices& defaults);
// {"registered": ladder.toml, "chosen": {"own": {TASK: [CANDIDATE, OPPONENT]}, "same": {...}}}, by name
Json about(const Outcomes&);

}  // namespace poslab::reproduce::ladder
