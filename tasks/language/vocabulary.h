// Tokens of text. Token 0 .. 255 is a byte, so every text has tokens, even if it is not UTF-8. Beyond these, token
// 256 + r joins the two tokens of merge r: byte pair encoding (Gage 1994; Sennrich, Haddow, Birch 2016). Without
// merges a text is its bytes. Leaves out: special tokens.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tasks/language/tokenizer.h"

namespace poslab {

// The next word of a text: a space or nothing, then a run of letters, digits, blanks or other signs, at most 64 bytes.
// Merges stay within words. Bytes from 128 on are letters, so that no character of UTF-8 is cut unless the word is.
std::string_view next_word(std::string_view text);
using WordCounts = std::unordered_map<std::string, int64_t>;
void count_words(WordCounts&, std::string_view text);

class Vocabulary : public Tokenizer {
 public:
  using Merge = std::pair<int, int>;             // two tokens that become one newer token
  Vocabulary() = default;                        // bytes
  // Throws BadInput for a merge of a token that does not come before it.
  explicit Vocabulary(std::vector<Merge>);
  // The pair of tokens that is most frequent within words becomes a token, and so on, `merges` times or until none
  // occurs twice; among equally frequent pairs, the one with smaller tokens. Throws BadInput for a negative number.
  static Vocabulary learn(const WordCounts&, int merges);

  int size() const override { return int(text_.size()); }
  const std::vector<Merge>& merges() const { return merges_; }
  const std::string& text(int token) const override;
  size_t longest() const override;

  // The tokens of a text, or its first `most`. Each word is merged by itself, the oldest merge first.
  TokenizedText tokenize(std::string_view text, size_t most = size_t(-1)) const override;
  std::string decode(const std::vector<int>& tokens) const;   // throws BadInput for an unknown token

 private:
  std::vector<Merge> merges_;
  std::map<Merge, int> rank_;                    // the number of a merge
  std::vector<std::string> text_ = bytes();
  static std::vector<std::string> bytes();
};

}  // namespace poslab
