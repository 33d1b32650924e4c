// Where a model looked: which layer and head are meant, and their weights.
#pragma once
#include <string>

#include "experiment/ask.h"

namespace poslab::asking {

struct Look {
  int layer = 0, head = 0;   // from 1 on; head 0: the maximum over all heads
};

// "2.3", "2.max"; "max" is the maximum over the heads of the last layer. BadInput if the run has no such layer or head.
Look read_look(const std::string& text, const RunSpec&);
std::string words_of(const Look&);   // "layer 2, head 3"

// BadInput for a string of so many slots that its weights would not fit.
void check_look(int slots);
// The weights that the answer slots give to all slots, by row.                                        (O, T)
std::vector<double> weights(const Respondent&, const Answer&, const Look&);

// The same as a grid for a terminal, a character for each weight. Empty if it would be more than 160 columns wide.
std::string grid(const Respondent&, const Answer&, const Look&, bool utf8);

}  // namespace poslab::asking
