// Regular expressions of tokenizers. They are written for Oniguruma, the engine of the library `tokenizers`, and
// matched by PCRE2 with Unicode classes. An expression that the two read differently is translated or refused.
// Characters newer than PCRE2's tables count as unassigned.
#pragma once
#include <functional>
#include <memory>
#include <string>

namespace poslab {

class Regex {
 public:
  // Throws BadInput for an expression that is invalid, that can match an empty text, or whose meaning may differ.
  Regex(const std::string& pattern, const std::string& where);
  // Calls found(from, to) for each match in valid UTF-8, from left to right, until it returns false: from is the
  // match's first byte, to the byte after it.
  void each(const std::string& text, const std::function<bool(size_t from, size_t to)>& found) const;

 private:
  std::shared_ptr<const void> code_;
};

std::string escaped(const std::string& text);  // an expression that matches only this text

}  // namespace poslab
