// The tasks a second time, in the order of tasks/all.cpp, written to be checked by eye: all inputs that can be drawn,
// with their probabilities, as text, and the answers by brute force. Shares no code with tasks/.
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
  int longest_law;                                           // ... at which frequencies are compared
  std::function<Law(int length)> law;
  std::function<std::string(const std::string&)> answer;     // digits; those after a terminator do not count
};
const std::vector<Oracle>& oracles();                        // in the order of tasks/all.cpp

}  // namespace poslab::testing
