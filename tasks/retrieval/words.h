// The words that contexts in English are made of: names of an adjective and a noun, and topics.
#pragma once
#include <cstdint>
#include <string>

#include "core/random.h"

namespace poslab {

constexpr int names = 4096, topics = 32;         // how many different ones there are
std::string adjective_of(int which);             // of 64
std::string noun_of(int which);                  // of 64
std::string topic_of(int which);                 // "the care of house plants"
// The generator of a question in English.
Rng rng_of_text(uint64_t seed);

}  // namespace poslab
