// What the report knows of a run: its folder, read and checked. Leaves out the weights.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/eval_csv.h"
#include "lab/run_record.h"

namespace poslab::report {

struct TrainStep {            // a line of metrics.jsonl
  double step = 0, loss = 0;  // nats; NaN where training had diverged
};

struct Run {
  std::string folder, name;  // name: "relative (randomized)", unlike that of every other run of the report
  std::string task, encoding, positions;
  int train_length = 0;
  std::map<std::string, std::string> config;
  std::vector<TrainStep> training;
  std::vector<AtLength> tested;     // by rising length
  RunRecord record;
  nlohmann::json pictures;          // null if the run has none

  // Mean accuracy over the tested lengths low .. high; NaN if none was tested.
  double accuracy(int low, int high) const;
  int longest() const { return tested.back().length; }
};

std::vector<Run> read_runs(const std::vector<std::string>& folders);

}  // namespace poslab::report
