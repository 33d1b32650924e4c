// Reads a user's own numbers from a file: in `given:at=@FILE`, `calibrated:of=@FILE` and `aligned:FILE` they replace
// the file's name, so that a run does not depend on the file.
#pragma once
#include <string>

namespace poslab {

// Whether such names are looked up. A kept run or plan contains the numbers, so a foreign one cannot make this program
// read a file.
enum class SpelledFiles { read, none };
// The value of the option, with each file's content in place of its name. Throws BadInput, with the file and if
// possible the line, for a wrong number, an empty file and a missing one.
std::string with_spelled_file(const std::string& option, const std::string& value);

}  // namespace poslab
