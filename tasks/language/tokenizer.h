// What tokens stand for, and the tokens of a text: by a vocabulary of ours, or that of an external checkpoint.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace poslab {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual int size() const = 0;                                  // tokens are 0 .. size() - 1
  virtual const std::string& text(int token) const = 0;          // its bytes
  virtual size_t longest() const = 0;                            // bytes of the longest token
  virtual std::vector<int> encode(std::string_view text, size_t most = size_t(-1)) const = 0;   // all, or the first
  virtual std::vector<int> prefix() const { return {}; }         // tokens before every text: mostly <s>
};

}  // namespace poslab
