// The words that contexts in English are made of: names of an adjective and a noun, and topics.
#pragma once
#include <cstdint>
#include <string>

#include "core/random.h"

namespace poslab {

constexpr int names = 4096, topics = 32;         // the numbers of different names and topics
std::string name_of(int which);                  // "brave-harbor": one of 64 adjectives and one of 64 nouns
std::string topic_of(int which);                 // "the care of house plants"
// The random numbers of a question in English.
Rng rng_of_text(uint64_t seed);

}  // namespace poslab
