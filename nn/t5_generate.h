// Answers from T5, greedy or by beam search, equal to answers by `generate` in Hugging Face's transformers.
#pragma once
#include "nn/t5.h"

namespace poslab {

// When beam search ends, once there are as many finished answers as beams:
enum class EarlyStopping {
  off,     // when the best beam, if it ended at its current length, would not beat the worst of these answers
  on,      // at once
  never    // as `off`; but with length_penalty > 0 the best beam is scored as if it ended at the greatest length
};

struct T5Generation {
  int count = 64;                                // new tokens, at most
  int beams = 1;                                 // 1: the most probable token each time
  // A finished answer of n tokens, the end counted, has the score (sum of ln p of its tokens) / n^length_penalty.
  double length_penalty = 1;
  EarlyStopping early_stopping = EarlyStopping::off;
  std::vector<int> ends{};                       // tokens that end an answer
  Chosen<Sampler> positions = choose_sampler("sequential");   // of the decoder
  void check() const;                            // throws BadInput for a number out of range and for random positions
};

// Greedy answers: for each sequence of states (B, T, d_model) the tokens after the start token, at most `count`, up to
// an end, which is left out. lengths as in T5::encode. If a scheme's logits depend on the number of slots, every step
// reads all tokens again. Throws BadInput as check(), Stopped after a request to stop, and Failure for logits of NaN.
std::vector<std::vector<int>> answer(const T5&, const Tensor& states, const Ids& lengths, const T5Generation&);

// Beam search for each of the sequences in turn. Returns the finished answers, the best first, each without its end.
// Each step keeps the 2 `beams` most probable continuations (more, if there are several ends); of the first `beams`,
// the ones with an end are finished, and the best `beams` without an end continue.
struct Hypothesis { std::vector<int> tokens; double score; };
std::vector<std::vector<Hypothesis>> beam_search(const T5&, const Tensor& states, const Ids& lengths,
                                                 const T5Generation&);

// The answer to one text: greedy, or the best that beam search finds.
std::vector<int> answer(const T5&, const std::vector<int>& text, const T5Generation&);

}  // namespace poslab
