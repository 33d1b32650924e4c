// What the report knows of a run: its folder, read and checked. Leaves out the weights.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/eval_csv.h"
#include "lab/naming.h"
#include "lab/run_record.h"

namespace poslab::report {

struct TrainStep {            // a line of metrics.jsonl
  double step = 0, loss = 0;  // nats; NaN where training had diverged
};

struct Run {
  std::string folder;
  std::string task, encoding, positions;
  int train_length = 0;
  int64_t seed = 0;
  Values config;   // what config.toml says, as it is shown; switches are on or off
  Values setting;  // what parts settings: all options but task, seed and what changes no result
  std::vector<TrainStep> training;
  std::vector<AtLength> tested;     // by rising length
  RunRecord record;
  nlohmann::json pictures;          // null if the run has none
};

Run read_run(const std::string& folder);

}  // namespace poslab::report
