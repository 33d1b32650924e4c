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
  bool single_word, lstrip, rstrip;  // only a whole word; takes the white space before it, after it
};

class AddedTokens {
 public:
  void add(const AddedToken&);
  bool has(const std::string& text) const;
  // Calls Token for each token of a text, the longest at each place, and Between for each part between two tokens, in
  // order. Stops and returns false when a call does. at_start: passed on with the part that begins the text.
  using Token = std::function<bool(int token, size_t end)>;   // end: in the source, after the white space that it takes
  using Between = std::function<bool(const NormalizedText& part, bool at_start)>;
  bool each(const NormalizedText& text, bool at_start, const Token&, const Between&) const;

 private:
  const AddedToken* at(std::string_view text) const;
  std::vector<AddedToken> tokens_;  // the longest first
  std::string begins_;              // the first bytes of all tokens
};

}  // namespace poslab
