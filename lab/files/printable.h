// Foreign text, made safe for a message on a terminal.
#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace poslab {

// The text on one line. Characters that move a cursor, change a colour or the direction of writing, and invalid bytes,
// are spelled out, as \n, \x1b and \u202e. Printable characters stay, so a second pass changes nothing.
std::string printable(std::string_view text);

// The first character's code point, and its number of bytes; -1 and 1 if it is not UTF-8. The text must not be empty.
std::pair<int32_t, size_t> first_character(std::string_view text);
bool is_utf8(std::string_view);

}  // namespace poslab
