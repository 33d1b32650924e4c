// The input lengths at which inspections look at a run.
#pragma once
#include <string>
#include <vector>

#include "experiment/config.h"

namespace poslab {

// The longest trained one and 15/4 times that: the paper's 40 and 150.
std::vector<int> paper_lengths(const RunSpec&);
// All of eval_lengths = FROM:TO.
std::vector<int> every_length(const Choices&);
// BadInput, naming the command, for a length below 1, or too long for the run's positions.
void check_lengths(const RunSpec&, const std::vector<int>& lengths, const std::string& command = "inspect");

}  // namespace poslab
