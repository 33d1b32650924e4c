// Schemes as NumPy: the files of python/poslab/formulas, which travel inside the program.
#pragma once
#include <string>

namespace poslab {

// The file for an encoding, what it takes of others after it, and which other files have options of it. A spelling
// with options gets the file that has just these, or else that of its name. Throws BadInput for a composition and with
// did-you-mean.
std::string in_numpy(const std::string& encoding);

}  // namespace poslab
