// A source's tables and figures, made anew and set beside its own numbers: plan, runs, Markdown, CSV and one HTML page.
#pragma once
#include <string>
#include <vector>

#include "lab/reproduce/exhibit.h"

namespace poslab::reproduce {

// What is asked for, and what is left out of it.
struct Asked {
  std::vector<std::string> what;              // seed1:table1, seed1:all
  std::string size;                           // tiny, example, paper
  std::vector<std::string> tasks, encodings;  // only these; none: all
  ValueLists settings;  // of every trial, in place of the size's; what an exhibit studies counts before them
};

// An exhibit with its own trials; those that several have in common have one id, and so one run.
struct Planned {
  const Exhibit* exhibit;
  Plan plan;
};
// Throws BadInput: an unknown word or key, nothing left.
std::vector<Planned> plan(const Asked&);
Plan all_trials(const std::vector<Planned>&);  // each once

// Whoever keeps the plan or draws holds it: one process at a time, of any host (lab/sweep/claim.h); others
// wait, and a signal throws Interrupted.
Claim one_at_a_time(const SweepFolder& runs);

// Writes FOLDER/NAME.csv and NAME.md for each exhibit, for some NAME.npz, README.md with all of them, index.html, and
// trials.csv (lab/sweep/collect.h), from the trials in FOLDER/runs that are done; what is missing, and why, is said in
// each. Returns how many of the trials are done. A signal throws Interrupted.
std::string write(const std::vector<Planned>&, const Asked&, const std::string& folder, const std::string& command);

}  // namespace poslab::reproduce
