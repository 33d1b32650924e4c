// tokenizer.model of a checkpoint such as LLaMA 2 or Mistral, read by sentencepiece, which made it (Kudo and Richardson
// 2018). Unlike with a tokenizer.json, "</s>" in a text is four characters, not a special token. Leaves out tokens that
// other files add.
#pragma once
#include <memory>

#include "tasks/language/tokenizer.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace poslab {

class SentencePiece : public Tokenizer {
 public:
  // The bytes of a tokenizer.model; `path` is for messages. with_prefix: every text begins with <s>, if the model has
  // it. Throws BadInput for another format.
  SentencePiece(const std::string& bytes, const std::string& path, bool with_prefix);
  ~SentencePiece() override;
  int size() const override { return int(text_.size()); }
  const std::string& text(int token) const override;
  size_t longest() const override { return longest_; }
  // An incomplete character at the beginning is dropped, and invalid bytes count as U+FFFD.
  TokenizedText tokenize(std::string_view text, size_t most = size_t(-1)) const override;
  std::vector<int> prefix() const override { return prefix_; }

 private:
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
  std::vector<std::string> text_;
  std::vector<int> prefix_;
  size_t longest_ = 1;
};

}  // namespace poslab
