// Shared by the files of a decoder that answers token by token; experiment/answering.cpp describes it.
#pragma once
#include <functional>

#include "experiment/ask.h"
#include "nn/decoder.h"

namespace poslab::answering {

int longest(const Choices&);  // slots
int symbols(const RunSpec&);  // V of input and answer; the separator is token V
DecoderSpec spec_of(const RunSpec&);
// An answer takes two passes if the model is right, else up to one for each symbol; estimated as four.
constexpr double passes = 4;
Forward forward(const DecoderSpec&, const RunSpec&, int length, double inputs);  // one pass
Load load(const RunSpec&);

struct Questions {
  int length;     // length of the inputs
  Batch strings;  // the strings, with "empty" tokens in place of the answer (tasks/batch.h)
  int outputs() const { return strings.outputs; }
  int sequences() const { return strings.tokens.shape()[0]; }
};
// x ; y_1 ... y_{O-1}: each input, the separator and this answer, (B, O), without its last symbol             (B, L+O)
Ids read_by(const Questions&, const Ids& answer, int separator);
// The positions of draw `number`; training and test use draw 0. A sampler that reads which slots are digits sees the
// answer as empty slots, as in a run on strings, and the separator as an operator before them.
PositionSample positions(const RunSpec&, Purpose, int64_t step, const Questions&, int number = 0);
// The same for a text of this many tokens, which such a sampler reads as digits.
PositionSample positions(const RunSpec&, Purpose, int64_t step, int slots, int number = 0);

// Greedy answers, (B, O), all slots at once. `said` runs a pass that reads an answer, and returns the most probable
// symbol of each slot; `first` is its result for an arbitrary answer. A pass over x ; a gives for each slot the
// symbol that follows the part of a before it, so a slot is final once all before it are: after n passes the first n
// symbols equal decoding one by one, and an answer that a pass does not change is complete. A model that is right needs
// two passes, and no model needs more than O. Factors that depend on the number of tokens see the whole sequence.
Ids free_running(Ids first, const std::function<Ids(const Ids& answer)>& said);

// For a decoder with the positions and temperature of these choices. Leaves out config, steps and parameters, which
// only its learner knows.
Respondent respondent(const RunSpec&, const Decoder&);

}  // namespace poslab::answering
