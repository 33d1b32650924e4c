#include "lab/files/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace poslab {
namespace {

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: not UTF-8
};

// RFC 3629: 0xxxxxxx, 110xxxxx 10xxxxxx, 1110xxxx 10xxxxxx 10xxxxxx, ...; the shortest form alone, and no surrogates.
Character first(std::string_view text) {
  const auto byte = [&](size_t n) { return uint32_t(static_cast<unsigned char>(text[n])); };
  constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const uint32_t lead = byte(0);
  const size_t n = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
  if (n == 0 || n > text.size()) return {};
  uint32_t code = n == 1 ? lead : lead & (0x7Fu >> n);
  for (size_t k = 1; k < n; ++k) {
    if (byte(k) >> 6 != 2) return {};
    code = code << 6 | (byte(k) & 0x3F);
  }
  if (code < least[n] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
  return {code, n};
}

// Control characters, ends of lines, marks of direction (Unicode's Bidi_Control), and characters of no width: the zero
// width space, the word joiner and the byte order mark.
bool unseen(uint32_t code) {
  const auto within = [&](uint32_t from, uint32_t to) { return code >= from && code <= to; };
  return code < 0x20 || within(0x7F, 0x9F) || code == 0x61C || code == 0x200B || within(0x200E, 0x200F) ||
         within(0x2028, 0x202E) || code == 0x2060 || within(0x2066, 0x2069) || code == 0xFEFF;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (size_t at = 0, n; at < text.size(); at += n)
    if ((n = first(text.substr(at)).bytes) == 0) return false;
  return true;
}

std::string printable(std::string_view text) {
  std::string all;
  for (size_t at = 0; at < text.size();) {
    const Character c = first(text.substr(at));
    const size_t n = std::max<size_t>(c.bytes, 1);
    if (c.bytes && !unseen(c.code))
      all += text.substr(at, n);
    else if (c.code == '\n' || c.code == '\t' || c.code == '\r')
      all += c.code == '\n' ? "\\n" : c.code == '\t' ? "\\t" : "\\r";
    else if (c.code > 0xFF)
      all += fmt::format("\\u{:04x}", c.code);
    else
      all += fmt::format("\\x{:02x}", c.bytes ? c.code : static_cast<unsigned char>(text[at]));
    at += n;
  }
  return all;
}

}  // namespace poslab
