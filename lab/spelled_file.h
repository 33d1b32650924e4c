// Positions of the user's own in a file: `given:at=@FILE` becomes the numbers that stand in it, so that a run does not
// depend on the file.
#pragma once
#include <string>

namespace poslab {

// The value of the option, with the file's numbers in place of its name. Throws BadInput with file and line for what is
// no finite number, for an empty file and for a name that is none.
std::string with_positions_file(const std::string& option, const std::string& value);

}  // namespace poslab
