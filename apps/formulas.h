// Schemes as NumPy: the files of python/poslab/formulas, which travel inside the program.
#pragma once
#include <string>

namespace poslab {

// The file for an encoding, then its imports, and the names of other files for its options. A spelling with options
// gets the file of these options, or else the file of its name. Throws BadInput for a composition and with
// did-you-mean.
std::string in_numpy(const std::string& encoding);

}  // namespace poslab
