// A source's tables and figures, reproduced beside its own numbers if it has any: plan, runs, and Python's drawings of
// them.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "lab/papers/artifact.h"

namespace poslab::reproduce {

// Which artifacts, at which size, and which of their trials.
struct Request {
  std::vector<std::string> what;              // ruoss2023:table1, gap_shift
  std::string size;                           // tiny, example, paper
  std::vector<std::string> tasks, encodings;  // only these; none: all
  ValueLists settings;  // of every trial, in place of the size's; an artifact's own options count before them
};

// An artifact with its own trials; a trial that several have in common has one id, and so one run.
struct Planned {
  const Artifact* artifact;
  Plan plan;
};
// Throws BadInput: an unknown word or key, nothing left.
std::vector<Planned> plan(const Request&);
Plan all_trials(const std::vector<Planned>&);  // each once
// Adds the trials of second stages, by the done ones. Returns whether any of them were new to the plan.
bool add_second_stages(std::vector<Planned>&, const Request&, const SweepFolder& runs);

// Held by the process that keeps the plan or draws: one at a time, of any host (lab/runs/sweep/claim.h); others
// wait, and a signal throws Interrupted.
Claim one_at_a_time(const SweepFolder& runs);

// Why an artifact cannot be drawn, as its page says it; "" if this does not fail. One damaged run shall not cost the
// other tables. A signal throws Interrupted.
std::string why_undrawn(const std::function<void()>& measure);

// Pictures as files of their own, FOLDER/figures/ID.pdf: for papers (lab/pages/page/print.h).
struct FigureFiles {
  std::vector<std::string> endings = {};  // "pdf", ...
  std::string width = {};
};

std::string made_by();  // "Drawn by: commit ..., isa ..., ..."
// Of about.json, which Python draws from: {"name", "title", "source", "notes": []}.
Json about_artifact(const Artifact&);

// Writes FOLDER/NAME.csv and NAME.md for each artifact, for some NAME.npz, README.md with all of them, index.html, and
// trials.csv (lab/runs/sweep/collect.h), from the trials in FOLDER/runs that are done; missing ones, and why, are
// named in each. Returns how many of the trials are done. A signal throws Interrupted. This interpreter draws
// (python.h).
std::string write(const std::vector<Planned>&, const Request&, const std::string& folder, const std::string& command,
                  const FigureFiles&, const std::string& python);

}  // namespace poslab::reproduce
