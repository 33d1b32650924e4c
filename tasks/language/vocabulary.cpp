#include "tasks/language/vocabulary.h"

#include <algorithm>
#include <set>

#include "core/error.h"

namespace poslab {
namespace {

enum class Sign { letter, digit, blank, other };

// Classes of ASCII, whatever the locale.
Sign sign_of(char c) {
  const auto b = static_cast<unsigned char>(c);
  if (b >= 128 || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || b == '_') return Sign::letter;
  if (b >= '0' && b <= '9') return Sign::digit;
  return b == ' ' || (b >= '\t' && b <= '\r') ? Sign::blank : Sign::other;
}

constexpr size_t longest_word = 64;

// Replaces every `pair` in `word`, from the left, by `token`.
void merge(std::vector<int>& word, const Vocabulary::Merge& pair, int token) {
  size_t kept = 0;
  for (size_t i = 0; i < word.size(); ++i) {
    const bool here = i + 1 < word.size() && word[i] == pair.first && word[i + 1] == pair.second;
    word[kept++] = here ? token : word[i];
    i += here;
  }
  word.resize(kept);
}

std::vector<int> bytes_of(std::string_view text) {
  std::vector<int> all;
  for (const char c : text) all.push_back(static_cast<unsigned char>(c));
  return all;
}

}  // namespace

std::string_view next_word(std::string_view text) {
  if (text.empty()) return text;
  const bool spaced = text[0] == ' ' && text.size() > 1 && sign_of(text[1]) != Sign::blank;
  const Sign sign = sign_of(text[spaced]);
  size_t end = size_t(spaced) + 1;
  const size_t most = std::min(text.size(), longest_word);
  while (end < most && sign_of(text[end]) == sign) ++end;
  // the last of several spaces belongs to the word after it
  if (sign == Sign::blank && end > 1 && text[end - 1] == ' ' && end < text.size() && sign_of(text[end]) != Sign::blank)
    --end;
  return text.substr(0, end);
}

void count_words(WordCounts& counts, std::string_view text) {
  for (std::string_view word; !(word = next_word(text)).empty(); text.remove_prefix(word.size()))
    ++counts[std::string(word)];
}

std::vector<std::string> Vocabulary::bytes() {
  std::vector<std::string> all;
  for (int b = 0; b < 256; ++b) all.emplace_back(1, char(b));
  return all;
}

Vocabulary::Vocabulary(std::vector<Merge> merges) : merges_(std::move(merges)) {
  for (const Merge& m : merges_) {
    const int token = int(text_.size());
    if (m.first < 0 || m.second < 0 || m.first >= token || m.second >= token)
      bad_input("vocabulary: merge {} joins tokens {} and {}; only 0 .. {} come before it", token - 256, m.first,
                m.second, token - 1);
    rank_.emplace(m, token - 256);
    text_.push_back(text_[size_t(m.first)] + text_[size_t(m.second)]);
  }
}

namespace {

// The words of a text, and how often each pair of tokens occurs in them. A merge changes the words that have the pair,
// and only their pairs are counted again.
class Pairs {
 public:
  explicit Pairs(const WordCounts& counts) {
    for (const auto& [word, count] : counts)
      words_.push_back({bytes_of(word), count}), count_pairs(words_.size() - 1, 1);
  }
  // The most frequent pair and its count; among equally frequent pairs, the smallest. Count 0: no pair is left.
  std::pair<Vocabulary::Merge, int64_t> best() const {
    std::pair<Vocabulary::Merge, int64_t> most{};
    for (const auto& [pair, of] : pairs_)
      if (of.count > most.second) most = {pair, of.count};
    return most;
  }
  void join(const Vocabulary::Merge& pair, int token) {
    const std::set<size_t> changed = pairs_[pair].words;
    for (const size_t n : changed) {
      count_pairs(n, -1);
      merge(words_[n].tokens, pair, token);
      count_pairs(n, 1);
    }
    pairs_.erase(pair);
  }

 private:
  struct Word {
    std::vector<int> tokens;
    int64_t count;
  };
  struct Found {
    int64_t count = 0;
    std::set<size_t> words;  // words that have the pair, and some that had it
  };
  void count_pairs(size_t n, int sign) {
    const Word& w = words_[n];
    for (size_t i = 0; i + 1 < w.tokens.size(); ++i) {
      Found& of = pairs_[{w.tokens[i], w.tokens[i + 1]}];
      of.count += sign * w.count;
      if (sign > 0) of.words.insert(n);
    }
  }
  std::vector<Word> words_;
  std::map<Vocabulary::Merge, Found> pairs_;
};

}  // namespace

Vocabulary Vocabulary::learn(const WordCounts& counts, int wanted) {
  if (wanted < 0) bad_input("vocabulary: {} merges; ask for 0 (bytes alone) or more", wanted);
  Pairs pairs(counts);
  std::vector<Merge> merges;
  while (int(merges.size()) < wanted) {
    const auto [pair, count] = pairs.best();
    if (count < 2) break;
    pairs.join(pair, 256 + int(merges.size()));
    merges.push_back(pair);
  }
  return Vocabulary(std::move(merges));
}

size_t Vocabulary::longest() const {
  return std::max_element(text_.begin(), text_.end(), [](auto& a, auto& b) { return a.size() < b.size(); })->size();
}

TokenizedText Vocabulary::tokenize(std::string_view text, size_t most) const {
  TokenizedText all;
  for (std::string_view word; all.tokens.size() < most && !(word = next_word(text)).empty();
       text.remove_prefix(word.size())) {
    std::vector<int> tokens = bytes_of(word);
    for (;;) {
      auto oldest = rank_.end();
      for (size_t i = 0; i + 1 < tokens.size(); ++i) {
        const auto here = rank_.find({tokens[i], tokens[i + 1]});
        if (here != rank_.end() && (oldest == rank_.end() || here->second < oldest->second)) oldest = here;
      }
      if (oldest == rank_.end()) break;
      merge(tokens, oldest->first, 256 + oldest->second);
    }
    for (const int token : tokens)
      if (all.tokens.size() < most) all.add(token, all.covered + text_[size_t(token)].size());
  }
  return all;
}

const std::string& Vocabulary::text(int token) const {
  static const std::string none;
  return token >= 0 && token < size() ? text_[size_t(token)] : none;
}

std::string Vocabulary::decode(const std::vector<int>& tokens) const {
  std::string all;
  for (const int token : tokens) {
    if (token < 0 || token >= size())
      bad_input("vocabulary: there is no token {}; tokens are 0 .. {}", token, size() - 1);
    all += text(token);
  }
  return all;
}

}  // namespace poslab
