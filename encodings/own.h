// Schemes and samplers that somebody else adds to the lists while the program runs, as the Python module does.
#pragma once
#include "encodings/encoding.h"

namespace poslab {

// Adds it, or puts it in the place of the one that was added under its name before. Throws BadInput for a name that
// poslab has already, and for one that cannot be spelled. Not while another thread may read the list.
void add_encoding(Scheme);
void add_sampler(Sampler);

std::vector<Scheme>& list_of_encodings();   // what all_encodings() gives; add_encoding() alone changes it
std::vector<Sampler>& list_of_samplers();   // likewise

}  // namespace poslab
