// Text for a terminal of 100 columns, and the capabilities of the terminal.
#pragma once
#include <array>
#include <string>
#include <vector>

namespace poslab {

// The text, broken at spaces so that no line is longer than `width`, unless a single word is.
std::vector<std::string> wrapped(std::string text, size_t width);
bool utf8_terminal();                // according to LC_ALL, LC_CTYPE or LANG
// Three columns; the second and the third are wrapped.
std::string in_columns(const std::vector<std::array<std::string, 3>>& rows);

}  // namespace poslab
