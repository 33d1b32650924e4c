// Small tests during training: accuracy against seconds of training, as in figure 2 of the paper. The scores of a run
// come from the full test at its end (experiment/evaluate.h).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "experiment/learner.h"
#include "lab/runs/run_folder.h"

namespace poslab {

// The strings of every small test: the same each time, and the first ones of the full test.
struct SmallTest {
  std::vector<int> lengths;  // at most 8, in the middles of equal parts of eval_lengths
  // strings of each length, 1 to 32, so that tests take 2 to 3 % of the time if possible
  int samples;
};
SmallTest small_test(const RunSpec&);

// The small tests of a run with test_every above 0, an option that not all kinds have. Each writes a line of
// tests.jsonl:
//
//   {"step", "seconds", "accuracy", "samples", "lengths", "accuracies"}
//
// Accuracies are as in eval.csv; "accuracy" is the mean of those beyond the training range, or of all if none is.
// seconds: lab/runs/training_clock.h.
class SmallTests {
 public:
  SmallTests(const RunFolder&, const Learner&);  // must outlive this object
  bool due() const;                              // whether a test follows the steps finished so far
  void test(std::optional<double> seconds);
  void sync();  // writes to disk; called before a checkpoint
  std::string checksum() const { return lines_ ? lines_->checksum() : ""; }  // of its lines; "": it writes none

 private:
  const Learner& learner_;
  std::optional<StepLog> lines_;
  SmallTest test_{};
};

}  // namespace poslab
