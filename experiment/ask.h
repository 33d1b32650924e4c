// A trained model asked about a string of one's own: what it says in each answer slot, how sure it is, where it looked.
// Dropout is off. Positions are those that range evaluation draws first, second, ... at the string's length.
#pragma once
#include <vector>

#include "experiment/state.h"
#include "tasks/task.h"

namespace poslab {

struct Answer {
  Tokens input, expected, said;        // said: in each slot the symbol with the highest probability
  int scored;                          // the slots that count for accuracy, from the first on
  int symbols;                         // V
  std::vector<double> probability;     // (O, V), the mean over all draws of positions
  int draws;                           // 1 if the model reads nothing random
  double accuracy_per_draw;            // of a single draw, 0 to 1: the mean over draws

  double confidence(size_t slot) const;   // the probability of what it said there
  int right() const;                   // how many of the counted slots
  double accuracy() const { return double(right()) / scored; }
};

// BadInput for a string that is too long for the run's positions (or for anybody: 10,000 symbols).
void check_question(const State&, const Tokens& input);
Answer ask(const State&, const Tokens& input, int draws = 1);

// The attention of one layer in the first draw, (H, T, T); row = query slot, column = key slot.
Tensor asked_attention(const State&, const Tokens& input, int layer);

// Whether another draw of positions at test can change an answer.
bool draws_positions(const Choices&);

}  // namespace poslab
