// An artifact is one table or figure of a source, which is a paper or an experiment of our own: the trials it needs and
// what is measured of them. Python draws it (python.h). all.cpp has the only list.
#pragma once
#include <string>
#include <vector>

#include "lab/files/json.h"
#include "lab/papers/outcomes.h"
#include "lab/papers/size.h"
#include "lab/runs/sweep/sweep.h"

namespace poslab::reproduce {

// The trials of an artifact: lists in place of those of the size, and further products whose lists replace these.
struct Trials {
  ValueLists lists;
  std::vector<ValueLists> also = {};
};

struct ModelSource;
struct ModelRequest;

struct Artifact {
  std::string name;  // ruoss2023:table1
  std::string title;
  std::string source;  // where in the paper and what stands there, or what is asked
  // `defaults`: the configuration of this size (size.h), from which an artifact varies what it studies.
  Trials (*trials)(const Choices& defaults);             // null: nothing is trained for it
  ModelSource (*models)(const ModelRequest&) = nullptr;  // of a source that is no sweep, in place of these (models.h)
  // What a second stage trains, by the results of the first; nothing until these are there. Its trials are then drawn
  // together with the first.
  std::vector<ValueLists> (*second_stage)(const Outcomes& first, const Choices& defaults) = nullptr;
  bool apart = false;  // its runs are of another kind than those of its source, so it is asked for by its own name
  bool scored = true;  // it is drawn from the runs' scores, so their tests must have them
  Json (*about)(const Outcomes&) = nullptr;  // what Python is told of its source, beside the trials
  // Fields of about.json for this artifact alone: what the drawing takes beside scores. Arrays go to FOLDER/NAME.npz.
  Json (*measured)(const Outcomes&, const Choices& defaults, const std::string& folder) = nullptr;
  const char* record = nullptr;  // the file in run folders that has what this measured (measured.h), if it keeps that
};
const std::vector<Artifact>& all_artifacts();
std::string source_title(const Artifact&);  // of the paper or experiment
// Those that `words` name: ruoss2023:table1, or ruoss2023 or ruoss2023:all for all of a source. In the order of the
// list, each once.
// Throws BadInput with did-you-mean.
std::vector<const Artifact*> artifacts(const std::vector<std::string>& words);

}  // namespace poslab::reproduce
