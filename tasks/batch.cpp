// Strings of a task as token ids, and the score of logits against its answers. Baselines: tasks/baselines.cpp.
#include "tasks/batch.h"

#include <algorithm>

#include "core/error.h"

namespace poslab {

Batch make_batch(const Task& task, int sequences, int length, Stream s) {
  if (sequences < 1) bad_input("{}: a batch of {} sequences; ask for at least 1", task.name(), sequences);
  if (length < 1) bad_input("{}: strings of length {}; ask for at least 1", task.name(), length);
  const int outputs = task.output_length(length), empty = task.symbols_in();
  std::vector<int> tokens, targets, counted;
  for (int b = 0; b < sequences; ++b) {
    Rng rng({s.seed, s.step, s.site + uint32_t(b)});
    const Tokens x = task.input(rng, length), y = task.answer(x);
    tokens.insert(tokens.end(), x.begin(), x.end());
    tokens.insert(tokens.end(), size_t(outputs), empty);
    targets.insert(targets.end(), y.begin(), y.end());
    counted.push_back(task.counted(y));
  }
  const int width = int(tokens.size()) / sequences;
  return {Ids({sequences, width}, std::move(tokens)), Ids({sequences, outputs}, std::move(targets)),
          Ids({sequences}, std::move(counted)), outputs};
}

Score score(const real* logits, int symbols_out, const Batch& batch) {
  Score sum;
  for (int64_t slot = 0; slot < batch.targets.size(); ++slot) {
    const real* row = logits + slot * symbols_out;
    const bool right = std::max_element(row, row + symbols_out) - row == batch.targets[slot];  // the first of equals
    const bool counts = slot % batch.outputs < batch.counted[slot / batch.outputs];
    sum.right += right && counts, sum.counted += counts;
    sum.right_unmasked += right, ++sum.slots;
  }
  return sum;
}

}  // namespace poslab
