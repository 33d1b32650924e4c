// The text of tokens, and the tokens of a text: by poslab's own vocabulary, or by that of an external checkpoint.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace poslab {

// A text as tokens, and how many of its bytes each token covers. Bytes that became no token count with the next one, so
// that the tokens cover the text without a gap up to the end of the last token.
struct TokenizedText {
  std::vector<int> tokens, bytes;
  size_t covered = 0;                                            // the sum of bytes
  void add(int token, size_t end) {                              // it covers the bytes [covered, end), if any
    end = std::max(end, covered);
    tokens.push_back(token), bytes.push_back(int(end - covered)), covered = end;
  }
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual int size() const = 0;                                  // tokens are 0 .. size() - 1
  virtual const std::string& text(int token) const = 0;          // its own bytes, not the bytes it covers
  virtual size_t longest() const = 0;                            // bytes of the longest token
  virtual TokenizedText tokenize(std::string_view text, size_t most = size_t(-1)) const = 0;     // at most `most`
  std::vector<int> encode(std::string_view text, size_t most = size_t(-1)) const { return tokenize(text, most).tokens; }
  virtual std::vector<int> prefix() const { return {}; }         // tokens before every text: usually <s>
};

}  // namespace poslab
