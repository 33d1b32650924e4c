#include "lab/hub/hf_pieces.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "lab/files/json.h"
#include "lab/files/printable.h"
#include "lab/hub/regex.h"

namespace poslab {
namespace {

using json = HfPieces::json;

// GPT-2's words (Radford et al. 2019), which "ByteLevel" means where nothing else is said.
constexpr const char* gpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

std::string utf8(int code) {
  unsigned char bytes[4];
  return {reinterpret_cast<char*>(bytes), size_t(utf8proc_encode_char(code, bytes))};
}

// The character at the beginning of a text that is not empty, -1 where that is no UTF-8, and its bytes.
std::pair<utf8proc_int32_t, size_t> first_character(std::string_view text) {
  utf8proc_int32_t code = 0;
  const auto n =
      utf8proc_iterate(reinterpret_cast<const unsigned char*>(text.data()), utf8proc_ssize_t(text.size()), &code);
  return {n > 0 ? code : -1, size_t(std::max<utf8proc_ssize_t>(n, 1))};
}

// The text, with U+FFFD for each byte that is no UTF-8.
NormalizedText valid(NormalizedText text) {
  if (is_utf8(text.text)) return text;
  NormalizedText all(text.offsets[0]);
  for (size_t at = 0; at < text.text.size();) {
    const auto [code, bytes] = first_character(std::string_view(text.text).substr(at));
    code < 0 ? all.add(utf8(0xFFFD), text.offsets[at + 1]) : all.add(text.part(at, bytes));
    at += bytes;
  }
  return all;
}

bool ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
}

// Of a character's canonical decomposition.
int letters_and_accents(utf8proc_int32_t code) {
  utf8proc_int32_t parts[32];
  return int(utf8proc_decompose_char(code, parts, 32, UTF8PROC_DECOMPOSE, nullptr));
}

// Canonical composition: e and an acute accent are one character. Its source ends where as many parts have been read.
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
  for (int ahead = 0; !rest.empty();) {  // parts that have been read
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

NormalizedText replaced(const NormalizedText& text, const std::string& what, const std::string& with) {
  NormalizedText all(text.offsets[0]);
  size_t done = 0;
  for (size_t at; !what.empty() && (at = text.text.find(what, done)) != std::string::npos; done = at + what.size())
    all.add(text.part(done, at - done)), all.add(with, text.offsets[at + what.size()]);
  all.add(text.part(done, text.text.size() - done));
  return all;
}

std::string replaced(const std::string& text, const std::string& what, const std::string& with) {
  return replaced(NormalizedText(text, 0), what, with).text;
}

// Put before a text.
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

// What matches and what lies between, each a piece; or what matches alone.
bool at_matches(const Regex& regex, const NormalizedText& text, bool between, const HfPieces::Take& take) {
  size_t done = 0;
  bool more = true;
  const auto rest = [&](size_t to) {
    if (between && more && to > done) more = take(text.part(done, to - done));
    done = to;
  };
  regex.each(text.text, [&](size_t from, size_t to) {
    rest(from);
    if (more) more = take(text.part(from, to - from));
    done = to;
    return more;
  });
  if (more) rest(text.text.size());
  return more;
}

// What matches ends the piece before it, "a b" at " " is "a ", "b"; one right after another is a piece of its own.
bool ending_at_matches(const Regex& regex, const NormalizedText& text, const HfPieces::Take& take) {
  size_t from = 0, last = 0;  // of the piece that has not been taken, and of the last match
  bool more = true;
  const auto piece = [&](size_t to) {
    if (more && to > from) more = take(text.part(from, to - from));
    from = to;
  };
  regex.each(text.text, [&](size_t begin, size_t end) {
    if (begin == last) piece(begin);  // at the start, or after a match
    piece(end), last = end;
    return more;
  });
  if (more) piece(text.text.size());
  return more;
}

std::string escaped(const std::string& text) { return "\\Q" + replaced(text, "\\E", "\\E\\\\E\\Q") + "\\E"; }

[[noreturn]] void unknown_step(const std::string& where, const char* kind, const json& step) {
  bad_input("{}: the {} {} is not known; poslab reads those of LLaMA and its relatives", where, kind, json_type(step));
}

// What a step puts into a text. Those of all known models have three bytes; a file from a stranger must not make much
// of little.
std::string put_in(std::string text, const std::string& where) {
  constexpr size_t most = 64;
  if (text.size() > most)
    bad_input("{}: a step puts {} bytes into a text, and poslab takes at most {}", where, text.size(), most);
  return text;
}

// Some steps lengthen a text each time that they stand there.
void must_be_only(bool first, const std::string& where, const json& step) {
  if (!first) bad_input("{}: it has two steps {}; poslab reads tokenizers with one", where, json_type(step));
}

Regex regex_of(const json& step, const std::string& where) {
  const json pattern = step.value("pattern", json());
  if (pattern.is_object() && pattern.value("Regex", json()).is_string()) return {pattern["Regex"], where};
  if (pattern.is_object() && pattern.value("String", json()).is_string())
    return {escaped(pattern["String"].get<std::string>()), where};
  bad_input("{}: a pattern is {}; it must be a Regex or a String", where, in_short(pattern));
}

}  // namespace

NormalizedText::NormalizedText(std::string_view text, size_t begin) : text(text), offsets(text.size() + 1) {
  std::iota(offsets.begin(), offsets.end(), begin);
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

size_t white_space(std::string_view text) {
  size_t all = 0;
  for (utf8proc_int32_t code = 0; all < text.size();) {
    const auto n = utf8proc_iterate(reinterpret_cast<const unsigned char*>(text.data()) + all,
                                    utf8proc_ssize_t(text.size() - all), &code);
    const auto kind = n > 0 ? utf8proc_category(code) : UTF8PROC_CATEGORY_CN;
    const bool control = (code >= '\t' && code <= '\r') || code == 0x85;
    if (n <= 0 ||
        !(control || kind == UTF8PROC_CATEGORY_ZS || kind == UTF8PROC_CATEGORY_ZL || kind == UTF8PROC_CATEGORY_ZP))
      break;
    all += size_t(n);
  }
  return all;
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
    changes_.emplace_back(composed);
  } else if (type == "\"Prepend\"") {
    changes_.emplace_back(
        [first = put_in(step.value("prepend", ""), where)](const NormalizedText& text) { return after(first, text); });
  } else if (type == "\"Replace\"" && step.value("pattern", json::object()).contains("String")) {
    const auto what = step["pattern"]["String"].get<std::string>();
    changes_.emplace_back([what, with = put_in(step.value("content", ""), where)](const NormalizedText& text) {
      return replaced(text, what, with);
    });
  } else {
    unknown_step(where, "normalizer", step);
  }
}

std::string spaced(const std::string& token) {
  const auto digit = [&](size_t at) { return std::isxdigit(static_cast<unsigned char>(token[at])) != 0; };
  if (token.size() == 6 && token.starts_with("<0x") && digit(3) && digit(4) && token[5] == '>')
    return std::string(1, char(std::stoi(token.substr(3, 2), nullptr, 16)));
  return replaced(token, "\u2581", " ");
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
    const std::string behavior = step.value("behavior", "");
    const bool removed = behavior == "Removed" && step.value("invert", false);  // what does not match goes
    const bool ends = behavior == "MergedWithPrevious" && !step.value("invert", false);
    if (behavior != "Isolated" && !removed && !ends) unknown_step(where, "behavior of", step);
    cuts_.emplace_back([=, regex = regex_of(step, where)](const NormalizedText& piece, bool, const Take& take) {
      return ends ? ending_at_matches(regex, piece, take) : at_matches(regex, piece, !removed, take);
    });
  } else if (type == "\"ByteLevel\"") {
    const bool spaced = step.value("add_prefix_space", true), in_words = step.value("use_regex", true);
    must_be_only(!of_bytes_, where, step);
    of_bytes_ = true;
    cuts_.emplace_back([regex = Regex(in_words ? gpt2 : R"([\s\S]+)", where), spaced](const NormalizedText& piece, bool,
                                                                                      const Take& take) {
      const NormalizedText text = after(spaced && !piece.text.starts_with(' ') ? " " : "", piece);
      return at_matches(regex, text, true, [&](const NormalizedText& word) { return take(in_letters(word)); });
    });
  } else if (type == "\"Metaspace\"") {
    must_be_only(!marks_spaces_, where, step);
    marks_spaces_ = true;
    const std::string mark = put_in(step.value("replacement", "\u2581"), where);
    const std::string when = step.value("prepend_scheme", step.value("add_prefix_space", true) ? "always" : "never");
    const Regex word("(?:" + escaped(mark) + ")?(?:(?!" + escaped(mark) + ")[\\s\\S])*", where);
    cuts_.emplace_back(
        [=, words = step.value("split", true)](const NormalizedText& piece, bool first, const Take& take) {
          NormalizedText text = replaced(piece, " ", mark);
          if ((when == "always" || (when == "first" && first)) && !text.text.starts_with(mark))
            text = after(mark, text);
          return words ? at_matches(word, text, true, take) : take(text);
        });
  } else {
    unknown_step(where, "pre_tokenizer", step);
  }
}

bool HfPieces::cut(size_t step, const NormalizedText& piece, bool first, const Take& take) const {
  if (step == cuts_.size()) return take(piece);
  return cuts_[step](piece, first, [&, next = first](const NormalizedText& part) mutable {
    return cut(step + 1, part, std::exchange(next, false), take);
  });
}

bool HfPieces::each(std::string_view text, size_t from, const Take& take) const {
  if (text.empty()) return true;
  NormalizedText changed = valid({text, from});
  const size_t most = 256 * (text.size() + 256);  // bytes; known models have three for one
  for (const Change& change : changes_)
    if (changed = change(changed); changed.text.size() > most)
      failure("its normalizer makes {} bytes of a text of {}; fetch the tokenizer again", changed.text.size(),
              text.size());
  return cut(0, changed, from == 0, take);
}

}  // namespace poslab
