// Schemes and samplers that are added to the lists while the program runs, by the Python module.
#pragma once
#include "encodings/encoding.h"

namespace poslab {

// Adds an entry, or replaces one that was added under the same name. Throws BadInput for the name of a built-in entry,
// and for a name that cannot be spelled. No other thread may read the list meanwhile.
void add_encoding(Scheme);
void add_sampler(Sampler);

std::vector<Scheme>& list_of_encodings();   // the list of all_encodings(); changed only by add_encoding()
std::vector<Sampler>& list_of_samplers();   // the list of all_samplers(); changed only by add_sampler()

}  // namespace poslab
