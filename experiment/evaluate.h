// Range evaluation: accuracy at each length, and the two scores in use.
#pragma once
#include <optional>
#include <vector>

#include "experiment/lengths.h"
#include "experiment/state.h"
#include "tasks/baselines.h"
#include "tasks/batch.h"

namespace poslab {

struct AtLength {
  int length = 0, samples = 0;
  double accuracy = 0, unmasked_accuracy = 0;  // fractions; accuracy: over the scored slots (spec B.1)
  double loss = 0;                             // nats, the mean over all output slots
  Baselines baselines;
};

// The inputs of range evaluation at a length: its strings first .. first + count - 1, and their positions, drawn once
// for all of them unless config["resample"] says otherwise. Strings do not depend on the division into batches;
// positions do.
Batch test_batch(const RunSpec&, int length, int first, int count, Purpose = Purpose::test_tokens);
PositionSample test_draw(const RunSpec&, int length, int first, int count, int slots, const Ids& tokens = {});
int common_blocks(const RunSpec&, const std::vector<int>& lengths);  // the fewest: loops may grow with length
int sub_batch(int64_t slots);  // how many strings of this many slots share a batch

// Tests eval_samples strings of one length, and computes its baselines.
AtLength evaluate(const State&, int length);

// Tests the first `samples` strings of one length, without baselines; accuracy_at() returns only the accuracy.
AtLength test_at(const State&, int length, int samples);
double accuracy_at(const State&, int length, int samples);

struct Mean {
  int from, to;
  double accuracy;
  Baselines baselines;
};
// Mean over the lengths from .. last of the list; absent if the list begins later or ends earlier.
std::optional<Mean> mean_from(const std::vector<AtLength>&, int from);
// The paper's score begins right after the longest training length (41). The released code's begins one later (42): it
// drops 41 entries of a list that starts at length 1 (spec, finding 5).
inline std::optional<Mean> paper_score(const Choices& c, const std::vector<AtLength>& all) {
  return mean_from(all, trained_lengths(c).to + 1);
}
inline std::optional<Mean> released_score(const Choices& c, const std::vector<AtLength>& all) {
  return mean_from(all, trained_lengths(c).to + 2);
}

}  // namespace poslab
