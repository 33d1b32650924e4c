// The attention of an answer: a layer and head, and their weights.
#pragma once
#include <string>

#include "experiment/ask.h"

namespace poslab::asking {

struct Look {
  int layer = 0, head = 0;   // from 1; head 0: the maximum over all heads
};

// "2.3", "2.max"; "max" is the maximum over the heads of the last layer. Throws BadInput for a layer or head that a
// pass of so many symbols does not have.
Look read_look(const std::string& text, const RunSpec&, int symbols);
std::string words_of(const Look&);   // "layer 2, head 3"

// Throws BadInput if the weights of a string of this many slots would not fit.
void check_look(int slots);
// The weights of the answer slots for all slots, by row. (O, T)
std::vector<double> weights(const Respondent&, const Answer&, const Look&);

// The same as a grid for a terminal, a character for each weight. Empty if it would be more than 160 columns wide.
std::string grid(const Respondent&, const Answer&, const Look&, bool utf8);

}  // namespace poslab::asking
