// An artifact is one table or figure of a source, which is a paper or an experiment of our own: the trials it needs and
// the measurements on them. Python draws it (python.h). artifacts.toml has the only list.
#pragma once
#include <string>
#include <vector>

#include "lab/files/json.h"
#include "lab/papers/outcomes.h"
#include "lab/papers/size.h"
#include "lab/runs/sweep/sweep.h"

namespace poslab::reproduce {

// The trials of an artifact: `lists` replace the size's lists; each of `also` adds trials with its lists instead.
struct Trials {
  ValueLists lists;
  std::vector<ValueLists> also = {};
};

struct ModelSource;
struct ModelRequest;

struct Artifact {
  std::string name;  // ruoss2023:table1
  std::string title = {};
  std::string source = {};  // the place in the paper and its content, or the question
  // `defaults`: the configuration of this size (size.h); an artifact varies the options that it studies.
  std::function<Trials(const Choices& defaults)> trials = nullptr;  // null: nothing is trained for it
  // in place of `trials` and `measured`, for a source that is not a sweep (models.h)
  ModelSource (*models)(const ModelRequest&) = nullptr;
  // Runs of a second stage, chosen by the results of the first, and none until the first is done. Both stages are
  // drawn together.
  std::vector<ValueLists> (*second_stage)(const Outcomes& first, const Choices& defaults) = nullptr;
  bool apart = false;  // whether its runs differ in kind from its source's, so that it must be requested by name
  bool scored = true;  // whether it is drawn from the runs' scores, so that their tests must have them
  Json (*about)(const Outcomes&) = nullptr;  // data for Python about its source, besides the trials
  // Fields of about.json only for this artifact, drawn with the scores. Arrays go to FOLDER/NAME.npz.
  Json (*measured)(const Outcomes&, const Choices& defaults, const std::string& folder) = nullptr;
  std::string record = {};  // the file in run folders with its measurements (measured.h), or ""
};
const std::vector<Artifact>& all_artifacts();
std::string source_title(const Artifact&);  // title of the paper or experiment
// The artifacts that `words` name: ruoss2023:table1, or ruoss2023 or ruoss2023:all for a whole source. In the order of
// the list, without repeats. Throws BadInput with did-you-mean.
std::vector<const Artifact*> artifacts(const std::vector<std::string>& words);

}  // namespace poslab::reproduce
