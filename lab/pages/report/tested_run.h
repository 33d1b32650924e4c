// A run with one of its tests, for the report: its folder, read and checked, without the weights.
#pragma once
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
  double accuracy = 0;        // NaN if the line lacks it
};

struct TestedRun {
  const Kind* kind = &strings_kind();
  std::string folder;
  std::string test;  // NAME of eval-NAME.csv, a test under other options than the run's own (other_test.h); or ""
  std::string task, encoding;  // task: for a language model, its text; for a T5, one of its tasks
  int shortest_trained = 1, train_length = 0;
  int64_t seed = 0;
  Values config;           // config.toml's values as shown, and the test's; switches are on or off
  Values retested;         // options of the test that differ from config.toml
  Values setting;          // the setting: all options except task, text, seed and those that change no result
  std::string other_test;  // how a further test differs from the run's own: "eval_lengths=1:40"; else ""
  std::vector<TrainStep> training;
  Results all;           // rows of eval.csv for the task
  Results tested;        // rows for the curve of accuracy, by rising length; for a text, without repeats
  std::string text;      // for a language model: a description of its text, as prose
  std::string checksum;  // checksum of that text (lab/runs/text_source.h); "" for older tests, and without a text
  RunRecord record;
  std::string again;                                  // for a test without a run: the command that repeats it; else ""
  nlohmann::json pictures;                            // null if the run has none
  std::string place() const;                          // its folder, or eval-NAME.csv in it
  std::string option(const std::string& name) const;  // of `config`; "" if it has none
};

struct Inputs {
  std::vector<std::string> runs;    // folders of finished runs, without repeats
  std::vector<std::string> passed;  // skipped inputs and the reasons, a sentence each
};
// An argument is a run's folder, a sweep's folder, a folder of runs, or the plan of a sweep. Other files and unfinished
// runs, which patterns like runs/* or runs/sweep/* also match, are skipped. Throws BadInput if nothing is left, or if a
// name does not exist.
Inputs find_runs(const std::vector<std::string>& words);

// The run with its own test and with each other test; for a T5, with each task of each test. Tests of an earlier step
// are skipped, and reported in `passed`. For an external checkpoint, its kept tests (lab/hub/hf_run.h), which have no
// training.
std::vector<TestedRun> read_runs(const std::string& folder, std::vector<std::string>& passed);

// The result of a language model's test that no run keeps: of a run with another encoding, or of an external checkpoint
// in `folder`; again: the command that repeats the test.
TestedRun tested_run(const std::string& folder, const Choices& tested, Results all, const std::string& again);

}  // namespace poslab::report
