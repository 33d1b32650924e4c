// Regular expressions with the classes of Unicode, by PCRE2: those of tokenizers.
#pragma once
#include <functional>
#include <memory>
#include <string>

namespace poslab {

class Regex {
 public:
  Regex(const std::string& pattern, const std::string& where);   // throws BadInput for what is none
  // Each match in valid UTF-8, from left to right: its first byte and the one after it. Ends where found() says false.
  void each(const std::string& text, const std::function<bool(size_t from, size_t to)>& found) const;

 private:
  std::shared_ptr<const void> code_;
};

}  // namespace poslab
