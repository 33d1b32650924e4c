// A source that trains a few models, language models or T5s, and tests each of them many times. A model with a seed is
// a trial of a sweep in FOLDER/runs; the model's tests other than eval.csv are the trial's tests.
#pragma once
#include <functional>
#include <optional>

#include "lab/papers/reproduce.h"

namespace poslab::reproduce {

// A size of such a source: options of all its models, and of the models of a second kind.
struct ModelSize {
  std::string name, summary;
  int seeds;
  Settings options, others;
  std::string note = {};  // the page's note on it
};

std::vector<ModelSize> sizes_of(const std::string& source);  // of artifacts.toml

struct ModelRequest {
  std::string size;
  std::vector<std::string> sets;  // KEY=VALUE
  std::string folder;             // runs are in FOLDER/runs
};

// Values of KEY=VALUE texts: the number of seeds (seeds=N), or an option of the runs. Options whose names begin with
// `prefix` belong to other runs, and are passed on without it.
struct Sets {
  std::optional<int> seeds;
  Settings options, prefixed;
};
// chosen: options that the tables set themselves, besides the common ones of all sources. Throws BadInput for these,
// and for a text that is not KEY=VALUE.
Sets read_sets(const std::vector<std::string>& texts, std::vector<std::string> chosen, const std::string& prefix = "");

struct Model {
  std::string name;  // "rope"
  const Kind* kind;
  Settings settings;  // all options except the seed
};
// The models of a source in artifacts.toml, with kind and settings from `options`, or `others` if others = true.
std::vector<Model> models_in(const std::string& source, const std::pair<const Kind*, Settings>& options,
                             const std::pair<const Kind*, Settings>& others,
                             const std::function<std::string(const std::string& name)>& value);
struct ModelTest {
  std::string model;
  TrialTest test;  // own_test means only the training; another test without words is a record
};
const std::string own_test = "eval.csv";

class Models {
 public:
  Models(const std::vector<Model>&, int seeds);
  // The trials of the tested models, by rising seed, each with its tests; a plan for each kind of run.
  std::vector<Plan> plans(const std::vector<ModelTest>&) const;
  Json trials() const;  // for Python: [{"id", "model", "seed"}, ...]

 private:
  struct Trained {
    Model model;
    Plan by_seed;
  };
  std::vector<Trained> all_;
  int seeds_;
};

struct ModelSource {
  Models models;
  std::function<std::vector<ModelTest>(const Artifact&)> tests;
  Json about = {};  // data for Python about all its artifacts, and about one
  std::function<Json(const Artifact&)> about_artifact;
  // A record, by its file, of the trained model in this run folder (lab/papers/measured.h)
  std::function<Json(const std::string& file, const std::string& run)> measure = nullptr;

  std::vector<Plan> plans(const std::vector<const Artifact*>&) const;
};

// Runs the remaining and the failed trials. Returns the number of trials that failed.
int run_models(const std::vector<Plan>&, const SweepFolder&, int jobs, int threads);
// Measures the missing records, and writes the files of lab/papers/reproduce.h's write(), from the finished trials.
// Returns the progress. python: the interpreter that draws (python.h).
std::string write(const std::vector<const Artifact*>&, const ModelSource&, const std::string& size,
                  const std::string& folder, const std::string& command, const FigureFiles&, const std::string& python);

}  // namespace poslab::reproduce
