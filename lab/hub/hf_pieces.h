// What a tokenizer.json does to a text before it looks for tokens: its "normalizer" changes characters, and its
// "pre_tokenizer" cuts the text into pieces, over whose ends no token reaches. All steps that LLaMA and its relatives
// have (hf_config.h); others are refused by name.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace poslab {

// What becomes of a text on its way to tokens: byte n was made of the source's bytes offsets[n] .. offsets[n + 1].
struct NormalizedText {
  std::string text;
  std::vector<size_t> offsets;
  explicit NormalizedText(size_t begin) : offsets{begin} {}
  NormalizedText(std::string_view text, size_t begin);     // the source itself
  NormalizedText part(size_t from, size_t bytes) const;
  void add(const NormalizedText& part);                    // bytes of the source that were left out go to its first
  void add(std::string_view made, size_t end);             // made of the source from the last offset to `end`
};

class HfPieces {
 public:
  using json = nlohmann::ordered_json;
  HfPieces() = default;
  // where: for errors. Throws BadInput for a step that is not known.
  HfPieces(const json& normalizer, const json& pre_tokenizer, const std::string& where);
  // The pieces of a text, in order, until take() says false; bytes that are no UTF-8 count as U+FFFD. from: where
  // it begins in a longer one with special tokens, whose offsets the pieces have. False if take() said so.
  using Take = std::function<bool(const NormalizedText& piece)>;
  bool each(std::string_view text, size_t from, const Take& take) const;
  bool of_bytes() const { return of_bytes_; }    // pieces have a character for each byte: byte_of tells which

 private:
  using Change = std::function<NormalizedText(const NormalizedText&)>;
  using Cut = std::function<bool(const NormalizedText& piece, bool first, const Take&)>;
  void add_normalizer(const json&, const std::string& where);
  void add_cut(const json&, const std::string& where);
  bool cut(size_t step, const NormalizedText& piece, bool first, const Take&) const;
  std::vector<Change> changes_;
  std::vector<Cut> cuts_;
  bool of_bytes_ = false, marks_spaces_ = false;
};

// GPT-2's alphabet (Radford et al. 2019): a printable character for each byte, so that tokens of bytes are text.
const std::string& letter_of(unsigned char byte);
int byte_of(std::string_view letter);            // -1 for a character that is none
// The bytes of a token over characters, in which a space is a mark and a byte without a character <0x0A>.
std::string spaced(const std::string& token);
std::string_view without_cut_character(std::string_view text);  // whose end alone stands at the beginning
size_t character(std::string_view text);         // bytes of the first character of UTF-8, 1 where it is damaged
size_t white_space(std::string_view text);       // bytes of the white space that it begins with
std::string json_type(const nlohmann::ordered_json&);   // its "type", or how it is spelled

}  // namespace poslab
