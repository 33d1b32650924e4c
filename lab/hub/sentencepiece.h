// tokenizer.model of a checkpoint, as LLaMA 2 and Mistral have it: read by sentencepiece itself, which made it (Kudo
// and Richardson 2018). Its special tokens are no characters: "</s>" in a text is four of them, as that library reads
// it and a tokenizer.json does not. Leaves out: tokens that other files add to it.
#pragma once
#include <memory>

#include "tasks/language/tokenizer.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace poslab {

class SentencePiece : public Tokenizer {
 public:
  // The bytes of a tokenizer.model; `path` is for messages. with_prefix: every text begins with its <s>, if it has one.
  // Throws BadInput for bytes of another form.
  SentencePiece(const std::string& bytes, const std::string& path, bool with_prefix);
  ~SentencePiece() override;
  int size() const override { return int(text_.size()); }
  const std::string& text(int token) const override;
  size_t longest() const override { return longest_; }
  // A character cut off at the beginning goes, and bytes that are no UTF-8 count as U+FFFD.
  TokenizedText tokenize(std::string_view text, size_t most = size_t(-1)) const override;
  std::vector<int> prefix() const override { return prefix_; }

 private:
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
  std::vector<std::string> text_;
  std::vector<int> prefix_;
  size_t longest_ = 1;
};

}  // namespace poslab
