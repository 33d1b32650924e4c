// Whether a run fits into this machine's memory, and about how long it will take; checked before anything is made.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "experiment/learner.h"

namespace poslab {

// Throws BadInput with the figures and a remedy if `at_once` such runs need more memory than their device has.
void check_memory(const RunSpec&, size_t at_once = 1);
// Throws BadInput with the figures if such a run takes more than a month, counted from step `done`.
void check_time(const RunSpec&, int threads, int64_t done = 0);
// Checks memory and time of trials that run `at_once` at a time, each with this many threads.
void check_room(const std::vector<Choices>& trials, size_t at_once, int threads);
// "about 250,000 parameters and 0.3 GB of memory; on 2 threads training takes about 12:30, testing 1:00"
std::string estimate(const RunSpec&, int64_t done = 0);  // for the remaining steps
double estimated_seconds(const RunSpec&, int threads);  // for training and testing
constexpr double month = 30 * 86400.;                   // longer runs are refused, as they are hardly intended

// A use of a trained model.
struct Use {
  std::string what;       // "testing"
  Taken takes;            // needed besides the model
  std::string with;       // the options that determine its size, for messages
  double parameters = 0;  // parameters of the model, with gradients and moments; 0 if weights stay in their files
  Device device = Device::cpu;
};
Use use_of(const Learner&, const std::string& what, const Taken& = {}, const std::string& with = "");
// Throws BadInput with the figures if it needs more memory than the machine has or takes more than a month, unless
// `force`. Otherwise prints memory and time if they are large.
void begin(const Use&, bool force);

}  // namespace poslab
