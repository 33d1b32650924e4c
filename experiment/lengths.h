// The input lengths of inspections.
#pragma once
#include <string>
#include <vector>

#include "experiment/config.h"

namespace poslab {

// The lengths of a run's own training: those of its curriculum, and longer ones that have the same strings; for a text,
// all up to its window's.
Lengths trained_lengths(const Choices&);
// in_words(): "lengths 1 to 20", or "length 20". after_origin(): ", after the training of RUN" for a run with an
// origin, whose lengths are unknown here.
std::string in_words(const Lengths&), after_origin(const Choices&);
// "trained", "unseen", or "unseen in this run" if its origin may have seen it.
std::string familiarity(const Choices&, int length);
// The longest trained length and 15/4 times that: the paper's 40 and 150.
std::vector<int> paper_lengths(const RunSpec&);
// All of eval_lengths = FROM:TO.
std::vector<int> every_length(const Choices&);
// Throws BadInput with the command's name for a length below 1, or too long for the run's positions.
void check_lengths(const RunSpec&, const std::vector<int>& lengths, const std::string& command = "inspect");

}  // namespace poslab
