// What the report knows of a run: its folder, read and checked. Leaves out the weights.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace poslab::report {

struct TestLength {  // a line of eval.csv; accuracies are fractions
  int length = 0;
  double accuracy = 0, loss = 0;
  int samples = 0;  // strings
  double guess = 0, majority = 0, content_only = 0;
};
struct TrainStep {            // a line of metrics.jsonl
  double step = 0, loss = 0;  // nats; NaN where training had diverged
};

struct Run {
  std::string folder, name;  // name: "relative (randomized)", unlike that of every other run of the report
  std::string task, encoding, positions;
  int train_length = 0;
  std::map<std::string, std::string> config;
  std::vector<TrainStep> training;
  std::vector<TestLength> tested;   // by rising length
  nlohmann::json result, pictures;  // pictures: null if the run has none

  // Mean accuracy over the tested lengths low .. high; NaN if none was tested.
  double accuracy(int low, int high) const;
  int longest() const { return tested.back().length; }
};

// eval.csv of a run folder. BadInput if there is none, Failure if it is damaged.
std::vector<TestLength> read_tested(const std::string& folder);

std::vector<Run> read_runs(const std::vector<std::string>& folders);

}  // namespace poslab::report
