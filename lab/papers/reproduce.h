// A source's tables and figures, made anew, beside its own numbers if it has any: plan, runs, Markdown, CSV and one
// HTML page.
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
  ValueLists settings;  // of every trial, in place of the size's; what an artifact studies counts before them
};

// An artifact with its own trials; those that several have in common have one id, and so one run.
struct Planned {
  const Artifact* artifact;
  Plan plan;
};
// Throws BadInput: an unknown word or key, nothing left.
std::vector<Planned> plan(const Request&);
Plan all_trials(const std::vector<Planned>&);  // each once
// Adds the trials that second stages take by what is done. Returns whether there were any that the plan did not have.
bool add_second_stages(std::vector<Planned>&, const Request&, const SweepFolder& runs);

// Whoever keeps the plan or draws holds it: one process at a time, of any host (lab/runs/sweep/claim.h); others
// wait, and a signal throws Interrupted.
Claim one_at_a_time(const SweepFolder& runs);

// A note in place of what cannot be drawn, as one damaged run shall not cost the other tables. A signal throws
// Interrupted.
Section drawn(const std::function<Section()>& draw);

// Pictures as files of their own, FOLDER/figures/ID.pdf: for papers (lab/pages/page/print.h).
struct FigureFiles {
  std::vector<std::string> endings = {};  // "pdf", ...
  std::string width = {};
};

// What a reproduction writes, artifact by artifact: FOLDER/NAME.csv and NAME.md, for some NAME.npz, and figures; at
// last README.md with all of them and index.html.
class Page {
 public:
  Page(std::string folder, FigureFiles figures) : folder_(std::move(folder)), figures_(std::move(figures)) {}
  void add(const Artifact&, const Section&);
  // more: what else is said of how it was made
  void write(const std::string& size, const std::string& summary, const std::string& command,
             const std::string& more = "") const;

 private:
  void write_figures(const std::string& artifact, const std::vector<Picture>&) const;
  std::string folder_, text_, sections_, contents_;
  FigureFiles figures_;
  std::vector<std::string> sources_;             // their titles
  nlohmann::json data_ = {{"charts", nlohmann::json::array()}, {"maps", nlohmann::json::object()}};
};

std::string made_by();  // "Drawn by: commit ..., isa ..., ..."
// Of about.json, which Python draws from: {"name", "title", "source", "notes": []}.
Json about_artifact(const Artifact&);
// Whether Python draws these, and not draw().
bool drawn_in_python(const std::vector<Planned>&);

// Writes FOLDER/NAME.csv and NAME.md for each artifact, for some NAME.npz, README.md with all of them, index.html, and
// trials.csv (lab/runs/sweep/collect.h), from the trials in FOLDER/runs that are done; what is missing, and why, is
// said in each. Returns how many of the trials are done. A signal throws Interrupted. What Python draws, this
// interpreter does (python.h).
std::string write(const std::vector<Planned>&, const Request&, const std::string& folder, const std::string& command,
                  const FigureFiles& = {}, const std::string& python = {});

}  // namespace poslab::reproduce
