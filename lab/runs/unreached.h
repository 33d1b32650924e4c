// A scheme whose window is longer than any string at hand does what another one does: people are told so.
#pragma once
#include <string>

#include "encodings/encoding.h"

namespace poslab {

// "rerope:window=512: window = 512 is ...", or "" where something of that many slots reaches it.
std::string unreached(const Chosen<Scheme>&, const Chosen<Sampler>&, int slots);
// Says it on stderr, a line.
void tell_unreached(const Chosen<Scheme>&, const Chosen<Sampler>&, int slots);

}  // namespace poslab
