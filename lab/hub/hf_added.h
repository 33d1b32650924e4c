// Added tokens of a tokenizer.json, which are found in a text before any other: <|end|>, or of a word of its own.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "lab/hub/hf_pieces.h"

namespace poslab {

struct AddedToken {
  std::string text;  // not empty
  int token;
  bool single_word, lstrip, rstrip;  // not within a word; takes the white space before it, and after it
};

class AddedTokens {
 public:
  void add(const AddedToken&);
  bool has(const std::string& text) const;
  // The tokens that stand in a text, at each place the longest, and the parts between them, in order, until one of the
  // two says false. at_start: passed on to the part at the start of the text. False if one of them said so.
  using Token = std::function<bool(int token, size_t end)>;   // of its white space, in the source
  using Between = std::function<bool(const NormalizedText& part, bool at_start)>;
  bool each(const NormalizedText& text, bool at_start, const Token&, const Between&) const;

 private:
  const AddedToken* at(std::string_view text) const;
  std::vector<AddedToken> tokens_;  // the longest first
  std::string begins_;              // their first bytes
};

}  // namespace poslab
