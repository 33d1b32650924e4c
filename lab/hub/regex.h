// Regular expressions of tokenizers. They are written for Oniguruma, which the library `tokenizers` has, and matched by
// PCRE2 with the classes of Unicode. Where the two read an expression differently, it is translated or refused.
// Characters that are younger than PCRE2's tables of Unicode count as unassigned.
#pragma once
#include <functional>
#include <memory>
#include <string>

namespace poslab {

class Regex {
 public:
  // Throws BadInput for an expression that is invalid, that can match an empty text, or whose meaning may differ.
  Regex(const std::string& pattern, const std::string& where);
  // Each match in valid UTF-8, from left to right: its first byte and the one after it. Ends where found() says false.
  void each(const std::string& text, const std::function<bool(size_t from, size_t to)>& found) const;

 private:
  std::shared_ptr<const void> code_;
};

std::string escaped(const std::string& text);  // an expression that matches this text alone

}  // namespace poslab
