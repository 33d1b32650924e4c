// One trial of a committed table, trained once more and compared with the table.
#pragma once
#include <string>

#include "lab/runs/sweep/kept.h"

namespace poslab::sweep {

// Whether the columns of two tables of accuracy by length are equal to the digit; if not, `said` names the lengths,
// then other differences between the trainings: commit, instruction set, numerics, processor.
struct Repeated {
  bool equal;
  std::string said;
};
Repeated held_to(const Kept& before, const Kept& now);

// `trial`: "results/table1-tiny#4a8dbb", a folder with plan.jsonl and kept.jsonl and the beginning of an id in them.
// Trains it into OUT/ID, and goes on with one that was stopped or that failed. Throws BadInput: no such trial, several,
// one that is complete there.
Repeated rerun(const std::string& trial, const std::string& out, int threads);

}  // namespace poslab::sweep
