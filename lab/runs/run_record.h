// The result of a run, as in result.json. An absent value was not measured.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/engine.h"
#include "core/rounding.h"
#include "lab/runs/values.h"
#include "tasks/baselines.h"

namespace poslab {

struct RunRecord {
  std::optional<std::string> task, encoding, positions;
  std::optional<int64_t> parameters, steps;
  std::optional<double> paper_score, released_score;  // experiment/evaluate.h
  std::optional<Baselines> baselines;                 // means over the lengths of the paper's score
  // The program that trained it (lab/files/version.h). A run of `poslab lm` has only this, its sizes and its times.
  std::optional<std::string> version, commit, scalar, isa, products;
  std::optional<std::string> numerics, processor, date;  // experiment/numerics.h, of poslab's own products; 2026-01-31
  std::optional<int64_t> threads;
  std::optional<std::string> cuda;
  // training time and speed, without tests, over all processes that worked on the run
  std::optional<double> seconds, steps_per_second;
  // Checksums of the record's files, absent in older runs: its table, and for a run's own test
  std::optional<std::string> table;
  Values files = {};  // its logged, drawn and read data (lab/runs/own_files.h)
  nlohmann::ordered_json config = {};  // as tested; null in a record that was not read from a file
  Values repeats = {};  // parts of the test with repeated samples (lab/runs/run.h)
  Values test = {};  // the differing options of a further test (lab/runs/other_test.h)
};

void add_origin(RunRecord&, Engine, Rounding);  // this program, this machine, and the run's engine and precision
void add_clock(RunRecord&, double seconds);  // seconds that its steps took
// The record of an earlier test of the run that had the same options of training. Empty if there is none, or if
// result.json is damaged or of another run; the new test then replaces it.
RunRecord record_before(const std::string& folder, const Choices&);
void keep_origin(RunRecord&, const RunRecord& before);  // the training's program, which later tests do not change
std::string to_json(const RunRecord&, const Choices&);
// to_json() with its own checksum, for records that are compared with no other file.
std::string with_own_checksum(const std::string& record);
// Throws Failure if it is missing, not JSON, has a value of another type, or a wrong "checksum".
RunRecord read_record(const std::string& path);

}  // namespace poslab
