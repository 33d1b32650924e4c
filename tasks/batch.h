// Batches of strings as tensors, and the score of the logits: the same for all tasks (spec B.1).
#pragma once
#include "core/tensor.h"
#include "tasks/task.h"

namespace poslab {

// The model reads the input followed by as many "empty" tokens as the answer has slots, and answers at these.
struct Batch {
  Ids tokens;        // (B, L + O): symbols 0 .. symbols_in - 1, then the empty class symbols_in
  Ids targets;       // (B, O)
  Ids scored_slots;  // (B): how many of a row's O slots count for accuracy
  int outputs = 0;   // O
};

// These inputs, all of one length, with their answers.
Batch batch_of(const Task&, const std::vector<Tokens>& inputs);
// B strings of a task at one length (the requested length; a task may draw shorter ones, spec B.2). Sequence b reads
// its own stream, (s.seed, s.step, s.site + b), so strings do not depend on how a batch is cut.
Batch make_batch(const Task&, int sequences, int length, Stream s);

// Counts of one batch: output slots that are scored, and scored slots that are correct; logits (B, O, symbols_out).
// Accuracy = correct / scored. `_unmasked`: counts over all slots, scored or not.
struct Score { int64_t correct = 0, scored = 0, correct_unmasked = 0, slots = 0; };
Score score(const real* logits, int symbols_out, const Batch&);

}  // namespace poslab
