// A user's own numbers from a file: `given:at=@FILE`, `calibrated:of=@FILE` and `aligned:FILE` are replaced by the
// numbers in it, so that a run does not depend on the file.
#pragma once
#include <string>

namespace poslab {

// Whether such names are looked up. A kept run or plan has the numbers and names no file, so that one from a stranger
// reads no file here.
enum class SpelledFiles { read, none };
// The value of the option, with each file's content in place of its name. Throws BadInput, naming the file and, if
// possible, the line, for anything but a number that belongs there, for an empty file and for a name of no file.
std::string with_spelled_file(const std::string& option, const std::string& value);

}  // namespace poslab
