// tokenizer.json of a T5 as transformers saves it since version 5, in place of spiece.model: pieces with their log
// probabilities (Kudo 2018) and the table of characters. sentencepiece reads it, as it reads spiece.model.
#pragma once
#include <string>
#include <vector>

namespace poslab::t5 {

struct SpecialToken {
  std::string text;  // a text is cut at it
  int token;
};

struct Unigram {
  std::string model;                             // the bytes of a spiece.model with these pieces
  std::vector<SpecialToken> special{};           // added_tokens
  std::vector<int> after{};                      // tokens that the post_processor puts after every text
};

bool is_unigram(const std::string& tokenizer_json, const std::string& path);
// Throws BadInput for a step or an option with which sentencepiece would find other tokens, naming it.
Unigram read_unigram(const std::string& tokenizer_json, const std::string& path);

}  // namespace poslab::t5
