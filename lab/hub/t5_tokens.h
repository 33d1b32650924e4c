// The tokens of a T5: those of its spiece.model, then the sentinels <extra_id_99> ... <extra_id_0>, which mark gaps to
// fill (Raffel et al. 2020, section 3.1.4). A text is cut at sentinels, </s>, <pad> and <unk>, and each part is read
// separately, as in transformers.
#pragma once
#include "lab/hub/hf_added.h"
#include "lab/hub/sentencepiece.h"
#include "lab/hub/t5_unigram.h"

namespace poslab::t5 {

class Tokens : public Tokenizer {
 public:
  // The bytes of a spiece.model; `path` is for messages. extra: the number of sentinels; -1: 100 if `vocabulary` has
  // room for them after the pieces, else none. Throws BadInput for another kind of file.
  Tokens(const std::string& bytes, const std::string& path, int extra, int vocabulary);
  // The tokens of a tokenizer.json.
  Tokens(const Unigram&, const std::string& path);
  int size() const override { return size_; }
  const std::string& text(int token) const override;
  size_t longest() const override { return longest_; }
  TokenizedText tokenize(std::string_view text, size_t most = size_t(-1)) const override;

 private:
  void add_special();
  NormalizedText in_words(std::string_view text, size_t from) const;
  SentencePiece pieces_;
  std::vector<SpecialToken> special_;
  AddedTokens added_;  // special_, for finding them in a text
  int size_ = 0;
  size_t longest_ = 1;
};

// "extra_ids" of a tokenizer_config.json; -1 without it. Throws BadInput.
int extra_ids(const std::string& text, const std::string& path);

}  // namespace poslab::t5
