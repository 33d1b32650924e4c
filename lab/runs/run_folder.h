// The run folder: all that a run leaves behind. Everything but clock.jsonl and the clock times of tests.jsonl and
// result.json, with the checksum of tests.jsonl there, is a function of config.toml alone.
//
//   config.toml               the run's options (experiment/choice_table.h)
//   metrics.jsonl             a line for each logged step: {"step", "length", "loss", "accuracy", "grad_norm"}
//   tests.jsonl               with test_every, a line for each test while training (lab/runs/curve.h)
//   clock.jsonl               a line for each checkpoint: {"step", "seconds", "logs"} (lab/runs/training_clock.h)
//   checkpoint.safetensors    the newest state (lab/runs/checkpoint.h)
//   checkpoints/STEP.safetensors   with keep_checkpoints, all of them: of step 0, of each that was due, of the last
//   origin.json               of a run that began with the weights of another model (lab/runs/origin.h)
//   eval.csv                  the test, in the columns of the run's kind (lab/runs/results_csv.h)
//   pictures.json             position matrix and attention maps (lab/runs/pictures.h)
//   result.json               scores, baselines, configuration, speed and machine (lab/runs/run_record.h)
//   eval-NAME.csv, .json      tests under other options than the run's own (lab/runs/other_test.h)
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/checksum.h"
#include "experiment/state.h"

namespace poslab {

class Checkpoint;
struct Kind;

class RunFolder {
 public:
  static void check_free(const std::string& path);  // BadInput if create() would refuse it
  // Makes the folder, complete or not at all: config.toml, a metrics.jsonl without lines, the checkpoint of `step`,
  // also as the first that keep_checkpoints keeps, and `more` files, by name and bytes. BadInput if the path
  // is taken.
  using Files = std::vector<std::pair<std::string, std::string>>;
  static RunFolder create(const std::string& path, const Choices&, const std::string& checkpoint, Files more = {},
                          int64_t step = 0);
  static RunFolder create(const std::string& path, const State&);
  // An existing run. BadInput if it is not one or another version wrote it; Failure if another process works in it.
  // A checkpoint alone, page.safetensors, as a page of `tools/web` gives it, becomes the run folder page beside it;
  // that of a run opens the run.
  static RunFolder open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string checkpoint() const { return file("checkpoint.safetensors"); }
  std::string kept_checkpoint(int64_t step) const { return file(fmt::format("checkpoints/{}.safetensors", step)); }
  std::vector<int64_t> kept_steps() const;  // of all kept checkpoints, in order; none of a run that keeps the newest
  // The newest checkpoint; Failure if it is damaged. device: on which to go on; "": on that of the run.
  State load(const std::string& device = "") const;
  // Of the newest checkpoint, which counts. BadInput where config.toml, which is there to be read, says another thing;
  // result.json decides which of the two is of another run.
  RunSpec config(const Checkpoint&, const Kind&) const;

 private:
  RunFolder(std::string path, const std::string& named);   // named: as the user knows it
  std::string path_;
  std::shared_ptr<const int> lock_;  // held while a copy lives; the kernel lets go even after kill -9
};

// "; did you mean runs/plain?" where a run beside `path`, which is no run, has such a name; else "".
std::string run_near(const std::string& path);

// A file of the run under construction that has a line of JSON now and then, each with its "step".
class StepLog {
 public:
  // Goes on after `step`: later lines, written since the checkpoint, are dropped. Makes the file if it is missing.
  StepLog(const RunFolder&, const std::string& name, int64_t step);
  ~StepLog();
  StepLog(const StepLog&) = delete;
  StepLog& operator=(const StepLog&) = delete;
  int64_t last() const { return last_; }                 // the step of the last kept line, or 0
  const std::string& before() const { return before_; }  // the last kept line, or ""
  std::string checksum() const { return sum_.digits(); }  // of all lines that were kept or added
  void line(const std::string& json);
  void sync();  // on disk; called before a checkpoint that counts on these lines

 private:
  std::string path_, before_, waiting_;
  Checksum sum_;
  int64_t last_ = 0;
  int file_ = -1;
};

// The lines of such a file. Throws Failure, with file and line, for a line that is no object with a number "step" and
// a number or null under each of these names, and for a step that does not rise.
std::vector<nlohmann::ordered_json> read_steps(const std::string& path, const std::vector<std::string>& numbers);
// Failure where the last line of such a file is of step `last`, before the step that it must have. One without lines
// is of a run that came as a checkpoint alone.
void must_reach(int64_t last, int64_t step, const std::string& path);

}  // namespace poslab
