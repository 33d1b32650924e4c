// The tasks written a second time, in the order of tasks/all.cpp, to be checked by eye: all inputs that can be drawn,
// as text with their probabilities, and the answers by brute force. This shares no code with tasks/.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace poslab::testing {

using Law = std::map<std::string, double>;   // input as text -> probability

struct Oracle {
  std::string task;
  std::string symbols;                                       // symbols[i] is how symbol i is written
  int longest;                                               // the longest length at which all inputs are tried
  int longest_law;                                           // the longest length at which frequencies are compared
  std::function<Law(int length)> law;
  std::function<std::string(const std::string&)> answer;     // digits; those after a terminator do not count
};
const std::vector<Oracle>& oracles();                        // in the order of tasks/all.cpp

}  // namespace poslab::testing
