#include "core/names.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/ascii.h"

namespace poslab {
namespace {

// The word in lower case, with - for _ and spaces, and without dashes in front.
std::string plain(const std::string& word) {
  const size_t first = word.find_first_not_of('-');
  std::string text = first == std::string::npos ? "" : word.substr(first);
  for (char& c : text) c = c == '_' || c == ' ' ? '-' : ascii::lower(c);
  return text;
}

struct Synonym {
  std::string typed, meant, why;
};
std::vector<Synonym>& synonyms() {
  static std::vector<Synonym> all;
  return all;
}

// Levenshtein: the fewest insertions, deletions, replacements and exchanges of neighbours that turn a into b.
size_t edits(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1), above, two_above;
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 1; i <= a.size(); ++i) {
    two_above = std::exchange(above, row), row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return row.back();
}

constexpr size_t unlike = SIZE_MAX;

// Whether `part` is one or more whole words of `whole`, as "layers" is of "n-layers".
bool word_of(const std::string& part, const std::string& whole) {
  const size_t at = whole.find(part), end = at + part.size();
  const auto ends = [&](size_t n) { return n >= whole.size() || !ascii::is_alnum(whole[n]); };
  return !part.empty() && at != std::string::npos && (at == 0 || ends(at - 1)) && ends(end);
}

// From near to far: one edit; `typed` begins `known`, as "temp" begins "temperature"; a few edits; they share a word,
// or `known` begins `typed`; else `unlike`. Edits count if they are at most half of the shorter word ("sin" is no slip
// of "pi"), or if both words begin with the same three letters, as "halves" and "half" do.
size_t distance(const std::string& typed, const std::string& known) {
  const size_t shorter = std::min(typed.size(), known.size()), longer = std::max(typed.size(), known.size());
  const size_t wrong = edits(typed, known);
  const bool begins = known.starts_with(typed);
  if (wrong > 1 && typed.size() > 2 && begins) return 100 + longer - shorter;
  const bool alike = 2 * wrong <= shorter || (shorter > 2 && typed.compare(0, 3, known, 0, 3) == 0);
  if (wrong <= 1 + longer / 3 && wrong < longer && alike) return wrong <= 1 ? wrong : 1000 * wrong;
  const bool in_front = known.size() > 2 && typed.starts_with(known);
  if (word_of(typed, known) || word_of(known, typed) || in_front) return 100000 + longer - shorter;
  return begins ? 200000 + longer - shorter : unlike;
}

using Names = std::vector<std::string>;

}  // namespace

OtherNames::OtherNames(const std::string& name, const std::vector<std::string>& words, const std::string& why) {
  for (const std::string& word : words) synonyms().push_back({plain(word), plain(name), why});
}

const std::string* nearest(const std::string& typed, const Names& known) {
  const std::string* meant = nullptr;
  size_t best = unlike;
  for (const std::string& k : known)
    if (const size_t d = distance(plain(typed), plain(k)); d < best) best = d, meant = &k;
  return meant;
}

std::string unknown(const std::string& kind, const std::string& name, const Names& known,
                    const std::string& elsewhere) {
  const std::string typed = plain(name);
  if (typed.empty()) {
    const std::string missing = kind == "name"             ? "a name"
                                : kind.starts_with("--") ? "the value of " + kind
                                                         : "the name of the " + kind;
    return fmt::format("{} is missing in \"{}\". Known: {}", missing, name, fmt::join(known, ", "));
  }
  if (const std::string better = advice ? advice(kind, name, known) : ""; !better.empty()) return better;
  std::string text = fmt::format("unknown {} \"{}\"", kind, name), why;
  const std::string* meant = nearest(name, known);
  if (!meant || plain(*meant) != typed)  // a registered synonym has priority over a similar name
    for (const Synonym& s : synonyms())
      for (const std::string& k : known)
        if (s.typed == typed && s.meant == plain(k)) meant = &k, why = s.why;
  if (meant) text += fmt::format("; did you mean \"{}\"?", *meant);
  if (!why.empty()) text += fmt::format(" {}.", why);
  if (known.size() > 20 && !elsewhere.empty())
    return fmt::format("{}{} See {}", text, meant ? "" : ".", elsewhere);
  if (meant && known.size() > 20) return text;
  return text + fmt::format("{} Known: {}", meant ? "" : ".", fmt::join(known, ", "));
}

}  // namespace poslab
