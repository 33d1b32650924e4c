// The tasks a second time, in the order of tasks/all.cpp, written for the eye: every input that can be drawn with its
// probability, as text, and the answer by brute force. Shares no code with tasks/.
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
  std::function<std::string(const std::string&)> answer;     // digits; what follows a terminator does not count
};
const std::vector<Oracle>& oracles();                        // in the order of table 1

}  // namespace poslab::testing
