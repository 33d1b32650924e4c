// Whether something fits into this machine, and about how long it will take: said before anything is made.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "experiment/learner.h"

namespace poslab {

// Throws BadInput with the figures, and with an option that makes it fit, if `at_once` such runs need more memory than
// there is on their device.
void check_memory(const RunSpec&, size_t at_once = 1);
// Throws BadInput with the figures if such a run takes more than a month, from the step `done` on.
void check_time(const RunSpec&, int threads, int64_t done = 0);
// Checks memory and time of trials that run `at_once` at a time, each on so many threads.
void check_room(const std::vector<Choices>& trials, size_t at_once, int threads);
// "about 250,000 parameters and 0.3 GB of memory; on 2 threads training takes about 12:30, testing 1:00"
std::string estimate(const RunSpec&, int64_t done = 0);  // of the steps after these
double estimated_seconds(const RunSpec&, int threads);  // of training and testing it
constexpr double month = 30 * 86400.;                   // longer runs are refused, as they are hardly meant

// A use of a trained model.
struct Use {
  std::string what;       // "testing"
  Taken takes;            // besides the model
  std::string with;       // the options that this grows with, as a message names them
  double parameters = 0;  // of the model, with gradients and moments; 0 where weights stay in their files
  Device device = Device::cpu;
};
Use use_of(const Learner&, const std::string& what, const Taken& = {}, const std::string& with = "");
// Throws BadInput with the figures if it needs more memory than there is or takes more than a month, unless `force`.
// Otherwise prints memory and time if they are large.
void begin(const Use&, bool force);

}  // namespace poslab
