// Quoting for commands that pages and scripts print, so that they can be pasted into a shell.
#pragma once
#include <string>

namespace poslab {

std::string shell_word(const std::string& text);  // quoted only where a shell needs it

}  // namespace poslab
