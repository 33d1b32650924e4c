#include "lab/files/colour.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace poslab {

std::string coloured(int file, Colour colour, const std::string& text) {
  const char *no = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
  if ((no && *no) || !terminal || std::string_view(terminal) == "dumb" || !isatty(file)) return text;
  return fmt::format("\x1b[{}m{}\x1b[0m", int(colour), text);
}

}  // namespace poslab
