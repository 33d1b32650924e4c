#include "lab/hub/hf_added.h"

#include <utf8proc.h>

#include <algorithm>

#include "core/error.h"
#include "lab/files/printable.h"

namespace poslab {
namespace {

// Where the last character begins.
size_t last_character(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

// The end of text[from, to) when its trailing white space is left out.
size_t without_last_space(std::string_view text, size_t from, size_t to) {
  for (size_t at; to > from; to = at) {
    at = last_character(text.substr(0, to));
    if (!white_space(text.substr(at, to - at))) break;
  }
  return to;
}

// \w of Unicode's annex 18: letters, marks, digits, connectors, joiners, and letters in circles and squares. The ranges
// are listed here because neither utf8proc nor older versions of PCRE2 have the property Alphabetic.
bool begins_with_word(std::string_view text) {
  const int32_t code = text.empty() ? -1 : first_character(text).first;
  if (code < 0) return false;
  const auto within = [&](int first, int last) { return code >= first && code <= last; };
  const auto kind = utf8proc_category(code);
  // in utf8proc's order: letters, marks, decimal digits and other numerals that are letters
  return (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_NL) || kind == UTF8PROC_CATEGORY_PC ||
         within(0x200C, 0x200D) || within(0x24B6, 0x24E9) || within(0x1F130, 0x1F149) || within(0x1F150, 0x1F169) ||
         within(0x1F170, 0x1F189);
}

}  // namespace

void AddedTokens::add(const AddedToken& token) {
  if (begins_.find(token.text[0]) == std::string::npos) begins_ += token.text[0];
  const auto shorter = std::find_if(tokens_.begin(), tokens_.end(),
                                    [&](const AddedToken& other) { return other.text.size() < token.text.size(); });
  tokens_.insert(shorter, token);
}

bool AddedTokens::has(const std::string& text) const {
  return std::any_of(tokens_.begin(), tokens_.end(), [&](const AddedToken& token) { return token.text == text; });
}

const AddedToken* AddedTokens::at(std::string_view text) const {
  if (begins_.find(text[0]) == std::string::npos) return nullptr;
  const auto found = std::find_if(tokens_.begin(), tokens_.end(),
                                  [&](const AddedToken& token) { return text.starts_with(token.text); });
  return found == tokens_.end() ? nullptr : &*found;
}

// Like the library `tokenizers`: a single_word token inside a word hides the tokens inside itself. White space that a
// token has taken may contain another token, which is also found; the text then continues after that one, even inside
// the white space.
bool AddedTokens::each(const NormalizedText& all, bool at_start, const Token& take, const Between& between) const {
  const std::string_view text = all.text;
  size_t done = 0;
  bool more = true;
  for (size_t here = 0; here < text.size() && more;) {
    const AddedToken* found = at(text.substr(here));
    if (!found) {
      ++here;
      continue;
    }
    size_t from = here, to = here + found->text.size();
    here = to;
    if (found->single_word && ((from > 0 && begins_with_word(text.substr(last_character(text.substr(0, from))))) ||
                               begins_with_word(text.substr(to))))
      continue;
    if (found->lstrip) from = std::max(without_last_space(text, 0, from), done);
    if (found->rstrip) to += white_space(text.substr(to));
    if (from > to)
      failure(
          "the added token \"{}\" is in white space that the token before it has consumed; the library "
          "`tokenizers` fails on such a text, too",
          found->text);
    if (done < from) more = between(all.part(done, from - done), at_start && done == 0);
    if (more && from < to) more = take(found->token, all.offsets[to]);
    done = to;
  }
  if (more && done < text.size()) more = between(all.part(done, text.size() - done), at_start && done == 0);
  return more;
}

}  // namespace poslab
