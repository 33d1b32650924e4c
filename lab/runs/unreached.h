// Notes for users: a scheme whose window is longer than any string equals another scheme, and a scheme that reads no
// positions is the same with each sampler.
#pragma once
#include <string>

#include "encodings/encoding.h"
#include "encodings/temperature.h"

namespace poslab {

// "none reads no positions, so positions = randomized change nothing here"; "" where it reads some or they are counted.
std::string unread_positions(const Chosen<Scheme>&, const Chosen<Sampler>&);
// "rerope:window=512: window = 512 is ...", or unread_positions(); "" where both matter.
std::string unreached(const Chosen<Scheme>&, const Chosen<Sampler>&, int slots);
// Says so on stderr, in a line; also for a sampler's limit and a temperature's length.
void tell_unreached(const Chosen<Scheme>&, const Chosen<Sampler>&, int slots,
                    const Chosen<TemperaturePolicy>& = {});
// Says on stderr that numbers which a user has to give, as those of `poslab calibrate`, are the defaults of an example.
void tell_example(const Chosen<Scheme>&, const Chosen<Sampler>&);
// Says on stderr that the attention of an input of this length, which an option asks for, was never trained.
void tell_untrained(const Choices&, int length, const char* option);

}  // namespace poslab
