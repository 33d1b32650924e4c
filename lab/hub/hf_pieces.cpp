#include "lab/hub/hf_pieces.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>

#include "core/error.h"
#include "lab/files/json.h"
#include "lab/files/printable.h"
#include "lab/hub/regex.h"

namespace poslab {
namespace {

using json = HfPieces::json;

// GPT-2's words (Radford et al. 2019), the default of "ByteLevel".
constexpr const char* gpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

std::string utf8(int code) {
  unsigned char bytes[4];
  return {reinterpret_cast<char*>(bytes), size_t(utf8proc_encode_char(code, bytes))};
}

bool ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
}

// The number of code points of a character's canonical decomposition.
int letters_and_accents(utf8proc_int32_t code) {
  utf8proc_int32_t parts[32];
  return int(utf8proc_decompose_char(code, parts, 32, UTF8PROC_DECOMPOSE, nullptr));
}

// Canonical composition: e and an acute accent become one character. To find the source of a character, decomposed code
// points are counted: the character and its source have the same number of them.
NormalizedText composed(const NormalizedText& text) {
  if (ascii(text.text)) return text;
  unsigned char* made = nullptr;
  const auto n =
      utf8proc_map(reinterpret_cast<const unsigned char*>(text.text.data()), utf8proc_ssize_t(text.text.size()), &made,
                   utf8proc_option_t(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<unsigned char, void (*)(void*)> keep(made, std::free);
  if (n < 0) failure("a text could not be normalized: {}", utf8proc_errmsg(n));
  NormalizedText all(text.offsets[0]);
  std::string_view rest(reinterpret_cast<char*>(made), size_t(n)), source = text.text;
  for (int ahead = 0; !rest.empty();) {  // code points that were read but not written yet
    const auto [code, bytes] = first_character(rest);
    for (ahead -= letters_and_accents(code); ahead < 0 && !source.empty();) {
      const auto [read, its] = first_character(source);
      ahead += letters_and_accents(read), source.remove_prefix(its);
    }
    all.add(rest.substr(0, bytes), text.offsets[text.text.size() - source.size()]);
    rest.remove_prefix(bytes);
  }
  return all;
}

// Puts `made`, which has no source bytes, in front of the text.
NormalizedText after(const std::string& made, const NormalizedText& text) {
  NormalizedText all(text.offsets[0]);
  all.add(made, text.offsets[0]), all.add(text);
  return all;
}

NormalizedText in_letters(const NormalizedText& bytes) {
  NormalizedText all(bytes.offsets[0]);
  for (size_t n = 0; n < bytes.text.size(); ++n)
    all.add(letter_of(static_cast<unsigned char>(bytes.text[n])), bytes.offsets[n + 1]);
  return all;
}

// How matches and the parts between them become pieces, by the library's names.
enum class Behavior { removed, isolated, contiguous, previous, next };

// The pieces of a text, some joined or removed by `behavior`. at_start: whether the first one begins the whole text.
template <class Next>
bool split(const Regex& regex, bool invert, Behavior behavior, const NormalizedText& text, bool at_start,
           const Next& take) {
  size_t from = 0, done = 0;  // beginning of the next piece, and end of the text read
  bool more = true, was_match = false;
  const auto piece = [&](size_t to) {
    if (more && to > from) more = take(text.part(from, to - from), at_start && from == 0);
    from = to;
  };
  const auto part = [&](size_t to, bool match) {
    if (to == done) return;
    const bool joins = (behavior == Behavior::contiguous && match == was_match) ||
                       (behavior == Behavior::previous && match && !was_match) ||
                       (behavior == Behavior::next && !match && was_match);
    if (!joins) piece(done);
    if (behavior == Behavior::removed && match) from = to;
    done = to, was_match = match;
  };
  regex.each(text.text, [&](size_t begin, size_t end) {
    part(begin, invert), part(end, !invert);
    return more;
  });
  if (more) part(text.text.size(), invert), piece(text.text.size());
  return more;
}

[[noreturn]] void unknown_step(const std::string& where, const char* kind, const json& step) {
  bad_input("{}: the {} {} is not known; poslab reads those of LLaMA and its relatives", where, kind, json_type(step));
}

// The text that a step inserts. All known models insert three bytes; a malicious file must not expand a text much more.
std::string put_in(std::string text, const std::string& where) {
  constexpr size_t most = 64;
  if (text.size() > most)
    bad_input("{}: a step puts {} bytes into a text, but poslab allows at most {}", where, text.size(), most);
  return text;
}

// Some steps lengthen a text each time they run, so only one is accepted.
void require_only(bool first, const std::string& where, const json& step) {
  if (!first) bad_input("{}: it has two steps {}; poslab reads tokenizers with one", where, json_type(step));
}

Regex regex_of(const json& step, const std::string& where) {
  if (const auto regex = pattern_of(step, "Regex")) return {*regex, where};
  if (const auto text = pattern_of(step, "String")) return {escaped(*text), where};
  bad_input("{}: a pattern is {}; it must be a Regex or a String", where, in_short(step.value("pattern", json())));
}

Behavior behavior_of(const json& step, const std::string& where) {
  const std::string name = step.value("behavior", "");
  const std::array names = {"Removed", "Isolated", "Contiguous", "MergedWithPrevious", "MergedWithNext"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) unknown_step(where, "behavior of", step);
  return Behavior(found - names.begin());
}

}  // namespace

NormalizedText::NormalizedText(std::string_view source) : text(source), offsets(source.size() + 1) {
  std::iota(offsets.begin(), offsets.end(), size_t(0));
}

NormalizedText NormalizedText::part(size_t from, size_t bytes) const {
  NormalizedText all(offsets[from]);
  all.text.assign(text, from, bytes);
  all.offsets.assign(offsets.begin() + long(from), offsets.begin() + long(from + bytes + 1));
  return all;
}

void NormalizedText::add(const NormalizedText& part) {
  text += part.text;
  offsets.insert(offsets.end(), part.offsets.begin() + 1, part.offsets.end());
}

void NormalizedText::add(std::string_view made, size_t end) {
  text += made;
  const size_t begin = offsets.back();
  for (size_t n = 1; n <= made.size(); ++n) offsets.push_back(begin + (end - begin) * n / made.size());
}

std::string json_type(const json& step) {
  return step.is_object() && step.contains("type") ? step["type"].dump() : in_short(step);
}

NormalizedText valid_utf8(std::string_view source) {
  if (is_utf8(source)) return NormalizedText(source);
  NormalizedText all(0);
  for (size_t at = 0; at < source.size();) {
    const auto [code, bytes] = first_character(source.substr(at));
    const std::string one = code < 0 ? utf8(0xFFFD) : std::string(source.substr(at, bytes));
    all.add(one, at += bytes);
  }
  return all;
}

NormalizedText replaced(const NormalizedText& text, const std::string& what, const std::string& with) {
  NormalizedText all(text.offsets[0]);
  size_t done = 0;
  for (size_t at; !what.empty() && (at = text.text.find(what, done)) != std::string::npos; done = at + what.size())
    all.add(text.part(done, at - done)), all.add(with, text.offsets[at + what.size()]);
  all.add(text.part(done, text.text.size() - done));
  return all;
}

std::string replaced(const std::string& text, const std::string& what, const std::string& with) {
  return replaced(NormalizedText(text), what, with).text;
}

std::optional<std::string> pattern_of(const json& step, const char* key) {
  const json pattern = step.value("pattern", json());
  if (!pattern.is_object() || pattern.size() != 1 || !pattern.value(key, json()).is_string()) return {};
  return pattern[key].get<std::string>();
}

const std::string& letter_of(unsigned char byte) {
  static const auto letters = [] {
    std::array<std::string, 256> all;
    int spare = 256;
    for (int b = 0; b < 256; ++b) {
      const bool printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      all[size_t(b)] = utf8(printable ? b : spare++);
    }
    return all;
  }();
  return letters[byte];
}

int byte_of(std::string_view letter) {
  static const auto bytes = [] {
    std::map<std::string, int, std::less<>> all;
    for (int b = 0; b < 256; ++b) all[letter_of(static_cast<unsigned char>(b))] = b;
    return all;
  }();
  const auto found = bytes.find(letter);
  return found == bytes.end() ? -1 : found->second;
}

size_t character(std::string_view text) { return first_character(text).second; }

size_t characters(std::string_view text) {
  size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(character(text));
  return count;
}

size_t white_space(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto [code, bytes] = first_character(rest);
    const auto kind = code < 0 ? UTF8PROC_CATEGORY_CN : utf8proc_category(code);
    const bool control = (code >= '\t' && code <= '\r') || code == 0x85;
    if (!(control || kind == UTF8PROC_CATEGORY_ZS || kind == UTF8PROC_CATEGORY_ZL || kind == UTF8PROC_CATEGORY_ZP))
      break;
    rest.remove_prefix(bytes);
  }
  return text.size() - rest.size();
}

HfPieces::HfPieces(const json& normalizer, const json& pre_tokenizer, const std::string& where) {
  add_normalizer(normalizer, where), add_cut(pre_tokenizer, where);
}

void HfPieces::add_normalizer(const json& step, const std::string& where) {
  if (step.is_null()) return;
  const std::string type = json_type(step);
  if (type == "\"Sequence\"") {
    for (const json& one : step.value("normalizers", json::array())) add_normalizer(one, where);
  } else if (type == "\"NFC\"") {
    in_place_ = false;
    changes_.emplace_back(composed);
  } else if (type == "\"Prepend\"") {
    in_place_ = false;
    const std::string first = put_in(step.at("prepend"), where);
    if (first.empty()) bad_input("{}: a step \"Prepend\" has no text; remove the step to prepend nothing", where);
    changes_.emplace_back(
        [first](const NormalizedText& text) { return text.text.empty() ? text : after(first, text); });
  } else if (const auto what = pattern_of(step, "String"); type == "\"Replace\"" && what) {
    if (what->empty()) bad_input("{}: a step \"Replace\" replaces an empty text, which poslab does not read", where);
    const std::string with = put_in(step.at("content"), where);
    in_place_ = in_place_ && characters(*what) == 1 && characters(with) == 1;
    changes_.emplace_back([what = *what, with](const NormalizedText& text) { return replaced(text, what, with); });
  } else {
    unknown_step(where, "normalizer", step);
  }
}

std::string_view without_cut_character(std::string_view text) {
  for (int n = 0; n < 3 && !text.empty() && (static_cast<unsigned char>(text[0]) & 0xC0) == 0x80; ++n)
    text.remove_prefix(1);
  return text;
}

void HfPieces::add_cut(const json& step, const std::string& where) {
  if (step.is_null()) return;
  const std::string type = json_type(step);
  if (type == "\"Sequence\"") {
    for (const json& one : step.value("pretokenizers", json::array())) add_cut(one, where);
  } else if (type == "\"Split\"") {
    cuts_.emplace_back(
        [regex = regex_of(step, where), invert = step.value("invert", false), behavior = behavior_of(step, where)](
            const NormalizedText& piece, bool at_start, const Next& next) {
          return split(regex, invert, behavior, piece, at_start, next);
        });
  } else if (type == "\"ByteLevel\"") {
    const bool spaced = step.value("add_prefix_space", true), in_words = step.value("use_regex", true);
    require_only(!of_bytes_, where, step);
    of_bytes_ = true;
    cuts_.emplace_back([regex = Regex(in_words ? gpt2 : R"([\s\S]+)", where), spaced](const NormalizedText& piece,
                                                                                      bool at_start, const Next& next) {
      const NormalizedText text = after(spaced && !piece.text.starts_with(' ') ? " " : "", piece);
      return split(regex, false, Behavior::isolated, text, at_start,
                   [&](const NormalizedText& word, bool starts) { return next(in_letters(word), starts); });
    });
  } else if (type == "\"Metaspace\"") {
    add_metaspace(step, where);
  } else {
    unknown_step(where, "pre_tokenizer", step);
  }
}

// A mark replaces each space, and precedes every piece ("always"), the text's first one ("first"), or none ("never").
void HfPieces::add_metaspace(const json& step, const std::string& where) {
  require_only(!marks_spaces_, where, step);
  marks_spaces_ = true;
  const std::string mark = step.value("replacement", "\u2581"), when = step.value("prepend_scheme", "always");
  if (characters(mark) != 1) bad_input("{}: its mark for spaces is \"{}\"; it must be one character", where, mark);
  if (when != "always" && when != "first" && when != "never")
    bad_input("{}: \"prepend_scheme\" is \"{}\"; it must be always, first or never", where, when);
  if (when != "never" && !step.value("add_prefix_space", true))
    bad_input("{}: \"add_prefix_space\" is false, and \"prepend_scheme\" is \"{}\"; it must be \"never\"", where, when);
  if (when == "first" && (!in_place_ || of_bytes_))  // the library then finds the start elsewhere
    bad_input("{}: \"prepend_scheme\" is \"first\" after steps that change a text's length, which poslab does not read",
              where);
  cuts_.emplace_back([=, at_mark = Regex(escaped(mark), where), words = step.value("split", true)](
                         const NormalizedText& piece, bool at_start, const Next& next) {
    NormalizedText text = replaced(piece, " ", mark);
    if ((when == "always" || (when == "first" && at_start)) && !text.text.starts_with(mark)) text = after(mark, text);
    return words ? split(at_mark, false, Behavior::next, text, at_start, next) : next(text, at_start);
  });
}

bool HfPieces::cut(size_t step, const NormalizedText& piece, bool at_start, const Take& take) const {
  if (step == cuts_.size()) return take(piece);
  return cuts_[step](piece, at_start,
                     [&](const NormalizedText& part, bool starts) { return cut(step + 1, part, starts, take); });
}

NormalizedText HfPieces::normalized(NormalizedText text) const {
  const size_t bytes = text.text.size(), most = 256 * (bytes + 256);  // known models at most triple the bytes
  for (const Change& change : changes_)
    if (text = change(text); text.text.size() > most)
      failure("its normalizer makes {} bytes from a text of {}; fetch the tokenizer again", text.text.size(), bytes);
  return text;
}

}  // namespace poslab
