// What the report knows of a run: its folder, read and checked. Leaves out the weights.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/eval_csv.h"
#include "lab/language/run.h"
#include "lab/naming.h"
#include "lab/run_record.h"

namespace poslab::report {

struct TrainStep {            // a line of metrics.jsonl
  double step = 0, loss = 0;  // nats; NaN where training had diverged
  double accuracy = 0;        // NaN if the line does not say it
};

struct Run {
  RunKind kind = RunKind::task;
  std::string folder;
  std::string task, encoding, positions;  // task: of a language model, the text that it reads; of a T5, one of its own
  int train_length = 0;
  int64_t seed = 0;
  Values config;   // what config.toml says, as it is shown; switches are on or off
  Values setting;  // what parts settings: all options but task, text, seed and what changes no result
  std::vector<TrainStep> training;
  std::vector<AtLength> tested;  // by rising length; of a language model, texts that are not repeated: no baselines
  std::vector<language::AtLength> windows;  // of a language model, all of eval.csv; of a T5, what it has of the task,
                                            // parts being places of the answer
  std::string text;                         // of a language model: what there is of its text, for prose
  RunRecord record;                         // nothing in it if an older `poslab lm` trained the run
  nlohmann::json pictures;          // null if the run has none
};

std::vector<Run> read_runs(const std::string& folder);   // one; of a T5, one for each of its tasks

}  // namespace poslab::report
