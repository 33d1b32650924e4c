#include "lab/files/shell.h"

#include <algorithm>
#include <string_view>

#include "core/ascii.h"

namespace poslab {

std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return ascii::is_alnum(c) || std::string_view("-_./,:=+@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string shell_path(const std::string& path) { return shell_word(path_as_word(path)); }
std::string path_as_word(const std::string& path) { return path.starts_with('-') ? "./" + path : path; }

std::string counted(size_t n, const std::string& thing) {
  return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

}  // namespace poslab
