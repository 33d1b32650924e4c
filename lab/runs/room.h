// Whether a run fits into this machine, and about how long it will take: said before anything is made.
#pragma once
#include <cstddef>
#include <string>

#include "experiment/footprint.h"

namespace poslab {

// Throws BadInput with the figures if `at_once` such runs need more memory than there is.
void check_memory(const Choices&, size_t at_once = 1);
// "about 250,000 parameters and 0.3 GB of memory; on 2 threads training takes about 12:30, testing 1:00"
std::string estimate(const Choices&);
double estimated_seconds(const Choices&, int threads);  // of training and testing it

}  // namespace poslab
