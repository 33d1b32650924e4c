#include "lab/files/printable.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>

namespace poslab {
namespace {

// Control characters, line ends, marks of direction (Unicode's Bidi_Control), and characters without width: the zero
// width space, the word joiner and the byte order mark.
bool unseen(int32_t code) {
  const auto within = [&](int32_t from, int32_t to) { return code >= from && code <= to; };
  return code < 0x20 || within(0x7F, 0x9F) || code == 0x61C || code == 0x200B || within(0x200E, 0x200F) ||
         within(0x2028, 0x202E) || code == 0x2060 || within(0x2066, 0x2069) || code == 0xFEFF;
}

}  // namespace

std::pair<int32_t, size_t> first_character(std::string_view text) {
  int32_t code = 0;
  const auto n =
      utf8proc_iterate(reinterpret_cast<const unsigned char*>(text.data()), utf8proc_ssize_t(text.size()), &code);
  return {n > 0 ? code : -1, size_t(std::max<utf8proc_ssize_t>(n, 1))};
}

bool is_utf8(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(first_character(text).second))
    if (first_character(text).first < 0) return false;
  return true;
}

std::string printable(std::string_view text) {
  std::string all;
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    if (code >= 0 && !unseen(code))
      all += text.substr(0, bytes);
    else if (code == '\n' || code == '\t' || code == '\r')
      all += code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\r";
    else if (code > 0xFF)
      all += fmt::format("\\u{:04x}", code);
    else
      all += fmt::format("\\x{:02x}", code < 0 ? static_cast<unsigned char>(text[0]) : code);
    text.remove_prefix(bytes);
  }
  return all;
}

}  // namespace poslab
