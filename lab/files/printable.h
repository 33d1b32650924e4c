// Text of somebody else's, as a message may show it on a terminal.
#pragma once
#include <string>
#include <string_view>

namespace poslab {

// The text on one line: what would move a cursor, change a colour or turn the direction of writing is spelled out, as
// \n, \x1b and \u202e, and so is each byte that is no UTF-8. What is printable stays, so doing it twice changes
// nothing.
std::string printable(std::string_view text);

bool is_utf8(std::string_view);

}  // namespace poslab
