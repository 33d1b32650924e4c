// Prints poslab's tokens for compare_tokenizers.py. Each input line is an object with the "path" of a tokenizer.json or
// tokenizer.model and its "texts". Each output line has the tokens "before" a text, the tokens of "texts", and the
// "bytes" of each token in hexadecimal digits; for a refused file it has the message instead.
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/hub/hf_tokenizer.h"
#include "lab/hub/sentencepiece.h"

using namespace poslab;

namespace {

std::unique_ptr<Tokenizer> tokenizer_of(const std::string& path) {
  const std::string bytes = read_input(path);
  if (path.ends_with(".json")) return std::make_unique<HfTokenizer>(bytes, "FILE");
  return std::make_unique<SentencePiece>(bytes, "FILE", true);
}

template <class Work>
Json or_message(const Work& work) {
  try {
    return work();
  } catch (const BadInput& e) { return e.what(); } catch (const Failure& e) {
    return e.what();
  }
}

Json answer(const Json& asked) {
  const auto tokenizer = tokenizer_of(asked.at("path"));
  Json all = {{"before", tokenizer->prefix()}, {"texts", Json::array()}, {"bytes", Json::array()}};
  for (const Json& text : asked.at("texts"))
    all["texts"].push_back(or_message([&] { return Json(tokenizer->encode(text.get<std::string>())); }));
  for (int token = 0; token < tokenizer->size(); ++token) {
    std::string digits;
    for (const char c : tokenizer->text(token)) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
    all["bytes"].push_back(digits);
  }
  return all;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << or_message([&] { return answer(parse_json(line, "the input")); }) << std::endl;
}
