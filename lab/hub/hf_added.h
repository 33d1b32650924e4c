// Added tokens of a tokenizer.json, such as <|end|>, which are found in a text before all other tokens.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "lab/hub/hf_pieces.h"

namespace poslab {

struct AddedToken {
  std::string text;  // not empty
  int token;
  bool single_word, lstrip, rstrip;  // not within a word; takes the white space before it, after it
};

class AddedTokens {
 public:
  void add(const AddedToken&);
  bool has(const std::string& text) const;
  // Calls the two functions for the tokens in a text, the longest at each place, and for the parts between them, in
  // order, until one returns false, and then returns false. at_start: passed on to the part that begins the text.
  using Token = std::function<bool(int token, size_t end)>;   // end: in the source, with the taken white space
  using Between = std::function<bool(const NormalizedText& part, bool at_start)>;
  bool each(const NormalizedText& text, bool at_start, const Token&, const Between&) const;

 private:
  const AddedToken* at(std::string_view text) const;
  std::vector<AddedToken> tokens_;  // the longest first
  std::string begins_;              // the first bytes of all tokens
};

}  // namespace poslab
