// The result of a run, as in result.json. Absent: not measured.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/engine.h"
#include "core/rounding.h"
#include "lab/runs/values.h"
#include "tasks/baselines.h"
#include "tasks/batch.h"

namespace poslab {

struct RunRecord {
  std::optional<std::string> task, encoding, positions;
  std::optional<int64_t> parameters, steps;
  std::optional<double> paper_score, released_score;  // experiment/evaluate.h
  std::optional<Baselines> baselines;                 // means over the lengths of paper_score
  // What trained it (lab/files/version.h). A run of `poslab lm` has this, its sizes and its times, and nothing else.
  std::optional<std::string> version, commit, scalar, isa, products;
  std::optional<std::string> numerics, processor, date;  // experiment/numerics.h, of poslab's own products; 2026-01-31
  std::optional<int64_t> threads;
  std::optional<std::string> cuda;
  // of training, in all processes that worked on the run, tests left out
  std::optional<double> seconds, steps_per_second;
  // The files that it goes with, absent of older runs: the checksum of its table, and of the run's own test those of
  std::optional<std::string> table;
  Values files = {};  // logged, drawn and read data (lab/runs/own_files.h)
  nlohmann::ordered_json config = {};  // as tested; null of a record that was not read from a file
  Values repeats = {};  // where samples of the test repeat (lab/runs/run.h)
  Values test = {};  // of a test that is not the run's own: the options that differ (lab/runs/other_test.h)
};

void add_origin(RunRecord&, Engine, Matmul);  // this program, this machine, and the run's engine and precision
void add_clock(RunRecord&, double seconds);  // of its steps
// Of an earlier test of the run, which has these options, but for those of the test. Empty if there was none, or if
// result.json is damaged or of another run: this test replaces it.
RunRecord record_before(const std::string& folder, const Choices&);
void keep_origin(RunRecord&, const RunRecord& before);  // what trained a run stays, however often it is tested again
std::string to_json(const RunRecord&, const Choices&);
// to_json() with its own checksum, for records that no other file is held against.
std::string with_own_checksum(const std::string& record);
// Throws Failure: missing, no JSON, a value of another type, or another "checksum" than its own.
RunRecord read_record(const std::string& path);

}  // namespace poslab
