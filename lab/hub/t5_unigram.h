// tokenizer.json of a T5, which transformers writes since version 5 instead of spiece.model: pieces with their log
// probabilities (Kudo 2018) and the table of characters, converted for sentencepiece.
#pragma once
#include <string>
#include <vector>

namespace poslab::t5 {

struct SpecialToken {
  std::string text;  // texts are cut at this token
  int token;
};

struct Unigram {
  std::string model;                             // the bytes of an equivalent spiece.model
  std::vector<SpecialToken> special{};           // added_tokens
  std::vector<int> after{};                      // tokens that the post_processor puts after every text
};

bool is_unigram(const std::string& tokenizer_json, const std::string& path);
// Throws BadInput for a step or option, by name, that would make sentencepiece find other tokens.
Unigram read_unigram(const std::string& tokenizer_json, const std::string& path);

}  // namespace poslab::t5
