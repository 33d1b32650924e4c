// Notes for users on settings that change nothing: a window longer than any string, random positions of a scheme that
// reads none, a shift of all positions for one that reads distances, a scheme whose other layers the model lacks, a
// pool that nothing draws from, a learning rate that cannot rise or fall as it should.
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
  int slots;
  Chosen<TemperaturePolicy> temperature = {};
  int layers = std::numeric_limits<int>::max();
};

// "none reads no positions, so positions = randomized change nothing here"; "" where it reads what they change.
std::string unread_positions(const Chosen<Scheme>&, const Chosen<Sampler>&);
// A line for each setting without effect: of the scheme, the sampler and the temperature.
std::vector<std::string> unreached(const AtWork&);
std::vector<std::string> unreached(const RunSpec&);      // of a training and its test
// Writes the lines to the log of this thread, which is stderr but in a sweep's worker.
void tell_unreached(const AtWork&);
void tell_unreached(const RunSpec&);
// Says on stderr that numbers which a user has to give, as those of `poslab calibrate`, are the defaults of an example.
void tell_example(const Chosen<Scheme>&, const Chosen<Sampler>&);
// Says on stderr that the attention of an input of this length, which an option asks for, was never trained.
void tell_untrained(const Choices&, int length, const char* option);

}  // namespace poslab
