#include "lab/hub/t5_tokens.h"

#include <algorithm>

#include "core/error.h"
#include "lab/hub/keys.h"

namespace poslab::t5 {

Tokens::Tokens(const std::string& bytes, const std::string& path, int extra, int vocabulary)
    : pieces_(bytes, path, false) {
  constexpr int usual = 100;
  if (extra < 0) extra = pieces_.size() + usual <= vocabulary ? usual : 0;
  for (int n = 0; n < extra; ++n) special_.push_back({fmt::format("<extra_id_{}>", n), pieces_.size() + extra - 1 - n});
  for (int token = 0; token < pieces_.size(); ++token) {
    const std::string& text = pieces_.text(token);
    if (text == "</s>" || text == "<pad>") special_.push_back({text, token});
    if (text == "\uFFFD") special_.push_back({"<unk>", token});
  }
  add_special();
}

Tokens::Tokens(const Unigram& file, const std::string& path)
    : pieces_(file.model, path, false), special_(file.special) {
  add_special();
}

void Tokens::add_special() {
  size_ = pieces_.size(), longest_ = pieces_.longest();
  for (const auto& [text, token] : special_) {
    added_.add({text, token, false, false, false});
    size_ = std::max(size_, token + 1), longest_ = std::max(longest_, text.size());
  }
}

const std::string& Tokens::text(int token) const {
  if (token < pieces_.size()) return pieces_.text(token);
  static const std::string none;
  const auto found = std::find_if(special_.begin(), special_.end(), [&](const auto& s) { return s.token == token; });
  return found == special_.end() ? none : found->text;
}

// Replaces white space that the table of characters keeps with plain spaces, because it also ends a word.
NormalizedText Tokens::in_words(std::string_view text, size_t from) const {
  NormalizedText all(from);
  for (size_t n = 0; !text.empty(); text.remove_prefix(n)) {
    const std::string_view one = text.substr(0, n = character(text));
    from += n, all.add(one != " " && white_space(one) && !pieces_.encode(one).empty() ? " " : one, from);
  }
  return all;
}

TokenizedText Tokens::tokenize(std::string_view text, size_t most) const {
  TokenizedText all;
  if (most == 0) return all;
  const auto special = [&](int token, size_t end) {
    all.add(token, end);
    return all.tokens.size() < most;
  };
  added_.each(NormalizedText(text), true, special, [&](const NormalizedText& between, bool) {
    const NormalizedText words = in_words(between.text, between.offsets[0]);
    const TokenizedText part = pieces_.tokenize(words.text, most - all.tokens.size());
    size_t read = 0;
    for (size_t n = 0; n < part.tokens.size(); ++n)
      all.add(part.tokens[n], words.offsets[read += size_t(part.bytes[n])]);
    return all.tokens.size() < most;
  });
  return all;
}

int extra_ids(const std::string& text, const std::string& path) {
  Keys config = keys_of(text, path);
  return config.get("extra_ids").is_null() ? -1 : config.whole("extra_ids");
}

}  // namespace poslab::t5
