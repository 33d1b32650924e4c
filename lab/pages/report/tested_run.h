// A run under one of its tests, as the report draws it: its folder, read and checked, without the weights.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/kind.h"
#include "lab/runs/naming.h"
#include "lab/runs/other_test.h"
#include "lab/runs/run_record.h"

namespace poslab::report {

struct TrainStep {            // a line of metrics.jsonl
  double step = 0, loss = 0;  // nats; NaN where training had diverged
  double accuracy = 0;        // NaN if the line does not say it
};

struct TestedRun {
  const Kind* kind = &strings_kind();
  std::string folder;
  std::string test;  // NAME of eval-NAME.csv, a test under other options than the run's own (other_test.h); or ""
  std::string task, encoding, positions;  // task: of a language model, the text that it reads; of a T5, one of its own
  int shortest_trained = 1, train_length = 0;
  int64_t seed = 0;
  Values config;           // config.toml's values as shown, and the test's; switches are on or off
  Values retested;         // options of the test that are not as config.toml has them
  Values setting;          // what parts settings: all options but task, text, seed and what changes no result
  std::string other_test;  // what parts a test under other options from the run's own: "eval_lengths=1:40"; else ""
  std::vector<TrainStep> training;
  Results all;        // what eval.csv has of the task
  Results tested;     // of these the curve of accuracy, by rising length: of a text, without repeats
  std::string text;   // of a language model: a description of its text, for prose
  std::string checksum;  // of that text (lab/runs/text_source.h); "" of a test that is older than this, and of no text
  RunRecord record;
  std::string again;  // of a test alone, without the training of a run: the command that does it once more; else ""
  nlohmann::json pictures;    // null if the run has none
  std::string place() const;  // its folder, or eval-NAME.csv in it
};

// The run under its own test and under each other; of a T5, one for each task of each test. Tests of a step that the
// run has left behind are passed over; `passed` says so.
// Of an external checkpoint its tests that are kept (lab/hub/hf_run.h), which have no training.
std::vector<TestedRun> read_runs(const std::string& folder, std::vector<std::string>& passed);

// The outcome of a language model's test that no run keeps: of a run with another encoding, or of an external
// checkpoint. folder: of that; again: as above.
TestedRun tested_run(const std::string& folder, const Choices& tested, Results all, const std::string& again);

}  // namespace poslab::report
