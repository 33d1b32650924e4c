// Colours on a terminal: for errors, progress and headlines.
#pragma once
#include <string>

namespace poslab {

enum class Colour { bold = 1, red = 31, green = 32 };
// `text` in that colour where `file` is a terminal that has colours and the user has not said NO_COLOR
// (https://no-color.org); else unchanged.
std::string coloured(int file, Colour, const std::string& text);

}  // namespace poslab
