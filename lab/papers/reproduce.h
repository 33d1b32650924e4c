// A source's tables and figures, reproduced next to its published numbers: plan, runs, and Python's drawings.
#pragma once
#include <string>
#include <vector>

#include "lab/papers/artifact.h"

namespace poslab::reproduce {

// The selected artifacts, their size, and the selected trials.
struct Request {
  std::vector<std::string> what;              // ruoss2023:table1, gap_shift
  std::string size;                           // tiny, example, paper
  std::vector<std::string> tasks, encodings;  // only these; none: all
  ValueLists settings;  // options of every trial, in place of the size's; an artifact's own options take precedence
};

// An artifact with its trials; a trial shared by several has one id, and so one run.
struct Planned {
  const Artifact* artifact;
  Plan plan;
};
// Throws BadInput for an unknown word or key, or if nothing is left.
std::vector<Planned> plan(const Request&);
Plan all_trials(const std::vector<Planned>&);  // each once
// Adds the trials of second stages, which follow from the finished ones. Returns whether any were new to the plan.
bool add_second_stages(std::vector<Planned>&, const Request&, const SweepFolder& runs);

// The claim of the process that writes the plan or draws: one at a time on all hosts (lab/runs/sweep/claim.h); others
// wait, and a signal throws Interrupted.
Claim one_at_a_time(const SweepFolder& runs);

// The reason why an artifact cannot be drawn, for the page; or "". One damaged run does not affect the other tables. A
// signal throws Interrupted.
std::string why_undrawn(const std::function<void()>& measure);

// Pictures in separate files, FOLDER/figures/ID.pdf, for papers (lab/pages/page/print.h).
struct FigureFiles {
  std::vector<std::string> endings = {};  // "pdf", ...
  std::string width = {};
};

// For about.json, from which Python draws: the page's fields, with the numerics number of this program for each
// instruction set; and an artifact's, {"name", "title", "source", "notes": []}.
Json about(const std::string& size, const std::string& command, const std::string& summary);
Json about_artifact(const Artifact&);
std::string made_by();  // "Drawn by: commit ..., isa ..., ..."

// Writes FOLDER/NAME.csv and NAME.md for each artifact, for some NAME.npz, README.md with all of them, index.html, and
// trials.csv (lab/runs/sweep/collect.h), from the finished trials in FOLDER/runs; each names missing trials and the
// reasons. Returns the number of finished trials. A signal throws Interrupted. python: the interpreter.
std::string write(const std::vector<Planned>&, const Request&, const std::string& folder, const std::string& command,
                  const FigureFiles&, const std::string& python);

}  // namespace poslab::reproduce
