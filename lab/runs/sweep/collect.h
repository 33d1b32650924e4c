// The results of a sweep as two tables. `trials` has a row for each trial of the plan, in its order:
//
//   id, name, state, the options that differ within the plan, paper_score, released_score, chance, majority,
//   content_only, seconds, commit, reason, all other options, isa, numerics, processor, date
//
// so tables of several sweeps differ in columns only by their order. `name` is the same for trials that differ in
// task and seed only (lab/runs/naming.h). `lengths` has a row for each length that a trial was tested at:
//
//   id, task, name, seed, length, accuracy, samples, chance, majority, content_only
//
// Trials of language models have other scores: loss, accuracy and bits_per_byte of texts that are not repeated, at the
// trained length and, as longest_loss, ..., at the longest tested one. Their rows of `lengths`:
//
//   id, name, seed, length, set, accuracy, loss, bits_per_byte, samples
//
// Scores and baselines are as in result.json and eval.csv (fractions; nats per token), without the noise of the last
// digits that a mean leaves. Switches are on or off. A value that a trial lacks (yet) is null, and empty in CSV.
// Seconds are training time in all processes that worked on the trial, without tests (lab/runs/training_clock.h).
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/runs/sweep/state.h"

namespace poslab::sweep {

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<nlohmann::json>> rows;  // each is null, a string, a number or a bool
};
struct Collected {
  Table trials, lengths;
};

// A trial whose result cannot be read is `failed`, with that reason. Throws BadInput if the folder is missing, if a
// folder in it belongs to another trial, or if trials have read different texts at one path.
Collected collect(const Plan&, const SweepFolder&);
std::string to_csv(const Table&);
std::string to_json_lines(const Table&);  // an object for each row

}  // namespace poslab::sweep
