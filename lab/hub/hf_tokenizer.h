// tokenizer.json of a checkpoint of the Hugging Face form: byte pair encoding over bytes (Qwen, OLMo 2, Llama 3), or
// over characters, with byte tokens for unknown characters (Llama 2, Mistral, Phi-3, Gemma). Leaves out: other kinds of
// tokenizers, and a tokenizer's options for training and padding.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lab/hub/hf_added.h"
#include "lab/hub/hf_decoder.h"
#include "lab/hub/hf_pieces.h"
#include "tasks/language/tokenizer.h"

namespace poslab {

class HfTokenizer : public Tokenizer {
 public:
  // The text of a tokenizer.json; `path` is for messages. Throws BadInput with the name of an unknown part.
  HfTokenizer(const std::string& text, const std::string& path);
  int size() const override { return int(text_.size()); }
  const std::string& text(int token) const override;   // "" for an unused number
  size_t longest() const override { return longest_; }
  // Special tokens in the text are recognized; prefix() is not added. An incomplete character at the beginning is
  // dropped.
  TokenizedText tokenize(std::string_view text, size_t most = size_t(-1)) const override;
  std::vector<int> prefix() const override { return prefix_; }

 private:
  using json = HfPieces::json;
  void read_model(const json& model);
  void read_added(const json& tokens);
  void read_post_processor(const json&);
  int number_of(const std::string& token, const json& number) const;  // throws BadInput if there is none
  void set_text(int token, std::string text);
  bool add_word(const NormalizedText& word, TokenizedText& to, size_t most) const;
  struct Letter { int token; size_t end; };            // end: its end in the text
  std::vector<Letter> letters_of(const NormalizedText& word) const;

  struct Merge { int rank, token; };
  std::string path_;
  uint64_t most_;                                      // the largest allowed token number, from the file's size
  HfPieces pieces_;
  HfDecoder decoder_;
  std::unordered_map<std::string, int> token_;
  std::unordered_map<uint64_t, Merge> merge_;          // by the two tokens that it joins
  AddedTokens added_, normalized_added_;       // found before and after the text is normalized
  std::vector<std::string> text_;
  std::vector<int> prefix_;
  size_t longest_ = 1;
  std::optional<std::string> unknown_;  // as spelled in the file; perhaps not a token
  bool bytes_for_letters_ = false, whole_words_ = false, fuse_unknown_ = false, has_template_ = false;
};

}  // namespace poslab
