// Commands that pages and scripts print to be typed again.
#pragma once
#include <string>

namespace poslab {

std::string shell_word(const std::string& text);  // as a shell reads it back; quoted only where it must be

}  // namespace poslab
