#include "core/names.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace poslab {
namespace {

// Levenshtein: the fewest insertions, deletions and replacements that turn a into b.
size_t edits(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

}  // namespace

std::string unknown(const std::string& kind, const std::string& name, const std::vector<std::string>& known) {
  std::string text = fmt::format("unknown {} \"{}\"", kind, name);
  const auto nearest =
      std::min_element(known.begin(), known.end(), [&](auto& a, auto& b) { return edits(name, a) < edits(name, b); });
  if (nearest != known.end() && edits(name, *nearest) <= 2 + nearest->size() / 3)
    text += fmt::format("; did you mean \"{}\"?", *nearest);
  return text + fmt::format(" Known: {}", fmt::join(known, ", "));
}

}  // namespace poslab
