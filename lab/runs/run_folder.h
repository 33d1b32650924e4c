// The run folder: all that a run leaves behind. Everything is a function of config.toml alone, except for clock.jsonl,
// the clock times in tests.jsonl and result.json, and the checksum of tests.jsonl in result.json.
//
//   config.toml               the run's options (experiment/choice_table.h)
//   metrics.jsonl             a line for each logged step: {"step", "length", "loss", "accuracy", "grad_norm"}
//   tests.jsonl               with test_every, a line for each test while training (lab/runs/curve.h)
//   clock.jsonl               a line for each checkpoint: {"step", "seconds", "logs"} (lab/runs/training_clock.h)
//   checkpoint.safetensors    the newest state (lab/runs/checkpoint.h)
//   checkpoints/STEP.safetensors   with keep_checkpoints, all of them: at step 0, whenever one was due, at the end
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
  static void check_free(const std::string& path);  // throws BadInput if create() would refuse it
  // Makes the folder, complete or not at all: config.toml, an empty metrics.jsonl, the checkpoint of `step`, which is
  // also the first of keep_checkpoints, and `more` files, by name and bytes. Throws BadInput if the path is taken.
  using Files = std::vector<std::pair<std::string, std::string>>;
  static RunFolder create(const std::string& path, const Choices&, const std::string& checkpoint, Files more = {},
                          int64_t step = 0);
  static RunFolder create(const std::string& path, const State&);
  // An existing run. Throws BadInput if it is no run, or of another version, Failure if another process uses it. A lone
  // checkpoint page.safetensors, saved by the page of `tools/web`, becomes the run folder `page` next to it; a
  // checkpoint within a run opens the run.
  static RunFolder open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string checkpoint() const { return file("checkpoint.safetensors"); }
  std::string kept_checkpoint(int64_t step) const { return file(fmt::format("checkpoints/{}.safetensors", step)); }
  std::vector<int64_t> kept_steps() const;  // all kept checkpoints, in order; none for a run that keeps only the newest
  // The newest checkpoint; throws Failure if it is damaged. device: where training continues; "": the run's.
  State load(const std::string& device = "") const;
  // The configuration of the newest checkpoint. Throws BadInput if config.toml, a copy for readers, differs from it;
  // result.json decides which of the two is another run's.
  RunSpec config(const Checkpoint&, const Kind&) const;

 private:
  RunFolder(std::string path, const std::string& named);   // the path as the user gave it
  std::string path_;
  std::shared_ptr<const int> lock_;  // held while a copy lives; the kernel releases it even after kill -9
};

// "; did you mean runs/plain?" if a run next to `path`, which is not a run, has a similar name; else "".
std::string run_near(const std::string& path);

// A file of a running training to which lines of JSON are added, each with its "step".
class StepLog {
 public:
  // Continues after `step`: drops lines written after that checkpoint. Makes a missing file.
  StepLog(const RunFolder&, const std::string& name, int64_t step);
  ~StepLog();
  StepLog(const StepLog&) = delete;
  StepLog& operator=(const StepLog&) = delete;
  int64_t last() const { return last_; }                 // the step of the last kept line, or 0
  const std::string& before() const { return before_; }  // the last kept line, or ""
  std::string checksum() const { return sum_.digits(); }  // over all kept and added lines
  void line(const std::string& json);
  void sync();  // writes to disk; called before a checkpoint that relies on these lines

 private:
  std::string path_, before_, waiting_;
  Checksum sum_;
  int64_t last_ = 0;
  int file_ = -1;
};

// The lines of such a file. Throws Failure with file and line unless each is an object with a number "step", larger
// than the one before, and a number or null under each of these names.
std::vector<nlohmann::ordered_json> read_steps(const std::string& path, const std::vector<std::string>& numbers);
// Throws Failure if `last`, the step of the file's last line, is before the required `step`. An empty file belongs to a
// run that came as a lone checkpoint.
void must_reach(int64_t last, int64_t step, const std::string& path);

}  // namespace poslab
