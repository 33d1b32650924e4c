// Text from a decoder, one token at a time: the choice of a token, and the loop that feeds it back to the model.
#pragma once
#include <functional>

#include "nn/decoder.h"

namespace poslab {

// How a token is drawn from logits z, in this order:
//
//   p = softmax(z / temperature)                        temperature 0: argmax z, nothing is random
//   only the top_k most probable are left               0: all                     (Fan, Lewis, Dauphin 2018)
//   only the fewest of these whose p sum to top_p or more,  1: all          (Holtzman et al. 2020, nucleus sampling)
//
// Among tokens with equal logits, the one with the smaller number comes first.
struct TokenChoice {
  double temperature = 1;
  int top_k = 0;
  double top_p = 1;
  void check() const;                            // throws BadInput for a number out of range
};
// logits (vocabulary), a random number in [0, 1) -> a token. Throws Failure for a NaN or an infinite largest logit.
int choose_token(const real* logits, int vocabulary, const TokenChoice&, double uniform);

struct Generation {
  int count = 100;                               // new tokens
  TokenChoice choice{};
  uint64_t seed = 0;                            // the i-th new token is drawn by stream (seed, i): same seed, same text
  Chosen<Sampler> positions = choose_sampler("sequential");
  int tokens = 0;                                // only the first `tokens` tokens of the vocabulary are drawn; 0: all
  int bucket = 128;                              // on a GPU: how many tokens one recorded step serves
};
// Reads the prompt at once and passes each new token to `take`, which may end the generation by returning false. The
// logits equal those of a full pass over all earlier tokens; if a scheme or sampler depends on the number of slots,
// every step is such a pass, which is slow. Throws BadInput for an empty prompt and for positions that are resampled at
// each length, and Stopped after a request to stop (core/stop.h).
void generate(const Decoder&, const std::vector<int>& prompt, const Generation&, const std::function<bool(int)>& take);
// Throws BadInput for arguments that generate() refuses.
void check_generation(const Decoder&, const std::vector<int>& prompt, const Generation&);

}  // namespace poslab
