// The model tested while it learns, a little and often: accuracy against seconds of training, as in figure 2 of the
// paper. What the scores of a run are made from is the full test at its end (experiment/evaluate.h).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "lab/run_folder.h"

namespace poslab {

// What each of the small tests asks: the same strings every time, and the first of those that the full test asks.
struct SmallTest {
  std::vector<int> lengths;  // at most 8, in the middles of equal parts of eval_lengths
  int samples;               // strings of each: 1 .. 32; where at least 1 fits, a test takes 2 to 3 % of the time of test_every steps
};
SmallTest small_test(const Config&);

// Those of a run, if it has test_every, with a line of tests.jsonl for each:
//
//   {"step", "seconds", "accuracy", "samples", "lengths", "accuracies"}
//
// Accuracies as in eval.csv; "accuracy" is the mean of those beyond the training range, of all if none is beyond.
// seconds: lab/training_clock.h.
class SmallTests {
 public:
  SmallTests(const RunFolder&, const State&);  // the state must outlive it
  bool due() const;                            // after the steps that are done
  void test(std::optional<double> seconds);
  void sync();  // on disk; called before a checkpoint

 private:
  const State& state_;
  std::optional<StepLog> lines_;
  SmallTest asked_;
};

}  // namespace poslab
