// Notes for users on settings without effect: a window longer than any string, random positions for a scheme that reads
// none, a shift of all positions for one that reads distances, a scheme for layers that the model lacks, an unused
// pool, a learning rate that has no steps to rise or fall, a schedule without cooling.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "encodings/encoding.h"
#include "encodings/temperature.h"
#include "experiment/run_spec.h"

namespace poslab {

// A scheme in a model of `layers` layers, with strings of at most `slots` slots.
struct AtWork {
  Chosen<Scheme> scheme;
  Chosen<Sampler> sampler;
  int slots = 0;
  Chosen<TemperaturePolicy> temperature = {};
  int layers = std::numeric_limits<int>::max();
};

// "none reads no positions, so positions = randomized change nothing here"; "" if they have an effect.
std::string unread_positions(const Chosen<Scheme>&, const Chosen<Sampler>&);
// A line for each setting without effect: of the scheme, the sampler or the temperature.
std::vector<std::string> unreached(const AtWork&);
// Notes on a run and its test. inherited: the options of the run's origin, which get no notes.
std::vector<std::string> unreached(const RunSpec&, const Settings& inherited = {});
// Writes the lines to the log of this thread: stderr, except in a sweep's worker.
void tell_unreached(const AtWork&);
void tell_unreached(const RunSpec&, const Settings& inherited);
// Prints a note if numbers that a user has to give, such as the biases that `poslab calibrate` writes, are still an
// example's.
void tell_example(const Chosen<Scheme>&, const Chosen<Sampler>&);
// Prints a note if the attention of an input of this length, which an option names, was never trained.
void tell_untrained(const Choices&, int length, const char* option);

}  // namespace poslab
