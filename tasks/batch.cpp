// Strings of a task as token ids, and the score of logits against its answers. Baselines: tasks/baselines.cpp.
#include "tasks/batch.h"

#include <algorithm>

#include "core/error.h"
#include "core/stop.h"

namespace poslab {

Batch batch_of(const Task& task, const std::vector<Tokens>& inputs) {
  const int sequences = int(inputs.size()), outputs = task.output_length(int(inputs.at(0).size()));
  std::vector<int> tokens, targets, scored_slots;
  for (const Tokens& x : inputs) {
    stop_if_requested();
    if (x.size() != inputs.front().size())
      bad_input("{}: strings of {} and of {} symbols in one batch; all must have the same length", task.name,
                inputs.front().size(), x.size());
    const Tokens y = task.answer(x);
    tokens.insert(tokens.end(), x.begin(), x.end());
    tokens.insert(tokens.end(), size_t(outputs), task.symbols_in);   // empty
    targets.insert(targets.end(), y.begin(), y.end());
    scored_slots.push_back(task.scored_slots(y));
  }
  const int width = int(tokens.size()) / sequences;
  return {Ids({sequences, width}, std::move(tokens)), Ids({sequences, outputs}, std::move(targets)),
          Ids({sequences}, std::move(scored_slots)), outputs};
}

Batch make_batch(const Task& task, int sequences, int length, Stream s) {
  if (sequences < 1) bad_input("{}: a batch of {} sequences; ask for at least 1", task.name, sequences);
  if (length < 1) bad_input("{}: strings of length {}; ask for at least 1", task.name, length);
  std::vector<Tokens> inputs;
  for (int b = 0; b < sequences; ++b) {
    stop_if_requested();
    Rng rng({s.seed, s.step, s.site + uint32_t(b)});
    inputs.push_back(task.input(rng, length));
  }
  return batch_of(task, inputs);
}

Score score(const real* logits, int symbols_out, const Batch& batch) {
  Score sum;
  const real* row = logits;
  const int* target = batch.targets.data();
  for (int64_t b = 0; b < batch.scored_slots.size(); ++b)
    for (int slot = 0; slot < batch.outputs; ++slot, ++target, row += symbols_out) {
      const bool correct = std::max_element(row, row + symbols_out) - row == *target;  // the first of equal ones
      const bool scored = slot < batch.scored_slots[b];
      sum.correct += correct && scored, sum.scored += scored;
      sum.correct_unmasked += correct, ++sum.slots;
    }
  return sum;
}

}  // namespace poslab
