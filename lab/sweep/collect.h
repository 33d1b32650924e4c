// The results of a sweep as one table, a row for each trial of the plan, in its order:
//
//   id, state, every option that differs within the plan, steps, paper_score, released_score, guess, majority,
//   content_only, seconds, commit, reason
//
// Scores and baselines as in result.json (fractions, experiment/evaluate.h). What a trial does not have (yet) is empty
// in CSV and NULL in SQLite. Seconds are those of training, in all processes that worked on the trial, tests left out
// (lab/training_clock.h).
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/sweep/state.h"

namespace poslab::sweep {

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<nlohmann::json>> rows;  // null, a string, a number or a bool each
};

// A trial whose result cannot be read is `failed`, with that reason. Throws BadInput if there is no such folder.
Table collect(const Plan&, const SweepFolder&);
std::string to_csv(const Table&);
std::string to_sqlite(const Table&);  // the bytes of a database with the one table `trials`

}  // namespace poslab::sweep
