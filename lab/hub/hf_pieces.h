// The steps of a tokenizer.json before a text is searched for tokens: its "normalizer" changes characters, and its
// "pre_tokenizer" cuts the text into pieces, which no token crosses. Supports all steps of LLaMA and its relatives
// (hf_config.h); others are refused by name.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace poslab {

// A text on its way to tokens: byte n was made from bytes offsets[n] .. offsets[n + 1] of the source.
struct NormalizedText {
  std::string text;
  std::vector<size_t> offsets;
  explicit NormalizedText(size_t begin) : offsets{begin} {}
  explicit NormalizedText(std::string_view source);        // the source itself
  NormalizedText part(size_t from, size_t bytes) const;
  void add(const NormalizedText& part);                    // its first byte also gets source bytes left out before it
  void add(std::string_view made, size_t end);             // from the source between the last offset and `end`
};

class HfPieces {
 public:
  using json = nlohmann::ordered_json;
  HfPieces() = default;
  // where: for errors. Throws BadInput for an unknown step.
  HfPieces(const json& normalizer, const json& pre_tokenizer, const std::string& where);
  // The text after the normalizer. Throws Failure if it grows far beyond any known normalizer's.
  NormalizedText normalized(NormalizedText text) const;
  // Calls take() for the pieces of a normalized text, in order, until it returns false, and then returns false.
  // at_start: whether this text begins the whole one; it does not after a special token.
  using Take = std::function<bool(const NormalizedText& piece)>;
  bool cut(const NormalizedText& text, bool at_start, const Take& take) const { return cut(0, text, at_start, take); }

 private:
  using Change = std::function<NormalizedText(const NormalizedText&)>;
  using Next = std::function<bool(const NormalizedText& piece, bool at_start)>;
  using Cut = std::function<bool(const NormalizedText& piece, bool at_start, const Next&)>;
  void add_normalizer(const json&, const std::string& where);
  void add_cut(const json&, const std::string& where);
  void add_metaspace(const json&, const std::string& where);
  bool cut(size_t step, const NormalizedText& piece, bool at_start, const Take&) const;
  std::vector<Change> changes_;
  std::vector<Cut> cuts_;
  // of_bytes: pieces have a character for each byte. in_place: the normalizer changes only single characters, if any.
  bool of_bytes_ = false, marks_spaces_ = false, in_place_ = true;
};

// GPT-2's alphabet (Radford et al. 2019): a printable character for each byte, so that tokens of bytes are text.
const std::string& letter_of(unsigned char byte);
int byte_of(std::string_view letter);            // -1 for a character outside the alphabet
NormalizedText replaced(const NormalizedText& text, const std::string& what, const std::string& with);
std::string replaced(const std::string& text, const std::string& what, const std::string& with);
NormalizedText valid_utf8(std::string_view source);             // with U+FFFD for each invalid byte
std::string_view without_cut_character(std::string_view text);  // without the rest of a cut character at its start
size_t character(std::string_view text);         // bytes of the first UTF-8 character, 1 if it is damaged
size_t white_space(std::string_view text);       // bytes of leading white space
size_t characters(std::string_view text);        // the number of UTF-8 characters
std::string json_type(const nlohmann::ordered_json&);   // its "type", or itself in short
// The text under `key` of a step's "pattern", as {"String": " "}; empty for another kind of pattern.
std::optional<std::string> pattern_of(const nlohmann::ordered_json& step, const char* key);

}  // namespace poslab
