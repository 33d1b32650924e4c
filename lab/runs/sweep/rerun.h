// One trial of a committed table, trained once more and compared with the table.
#pragma once
#include <string>

#include "lab/runs/sweep/kept.h"

namespace poslab::sweep {

// Whether the columns of two tables of accuracy by length have equal digits; if not, `said` names the lengths, then
// other differences between the runs: commit, instruction set, numerics, processor.
struct Repeated {
  bool equal;
  std::string said;
};
Repeated held_to(const Kept& before, const Kept& now);

// `trial`: "results/table1-tiny#4a8dbb", a folder with plan.jsonl and kept.jsonl and the beginning of an id in them.
// Trains it in OUT/ID, or continues a stopped or failed one. Throws BadInput for no such trial, several, or a complete
// one.
Repeated rerun(const std::string& trial, const std::string& out, int threads);

}  // namespace poslab::sweep
