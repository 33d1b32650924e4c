// Where a vocabulary comes from, and the file that keeps it.
#include <algorithm>
#include <climits>

#include "core/error.h"
#include "core/stop.h"
#include "lab/files/corpus.h"
#include "lab/files/json.h"

namespace poslab {
namespace {

using json = nlohmann::ordered_json;
constexpr const char* format = "poslab vocabulary 1";
constexpr int64_t piece = 1 << 20;

}  // namespace

WordCounts words_of(const Text& text, int64_t most) {
  std::vector<TextFile> files = text.files;
  std::sort(files.begin(), files.end(), [](const TextFile& a, const TextFile& b) {
    return std::pair(hash_of(a.path), a.path) < std::pair(hash_of(b.path), b.path);
  });
  WordCounts counts;
  int64_t left = most;
  for (const TextFile& f : files)
    for (int64_t at = 0; at < f.bytes && left > 0; at += piece) {
      stop_if_requested();
      const int64_t bytes = std::min({piece, f.bytes - at, left});
      count_words(counts, text.read(f, at, bytes));
      left -= bytes;
    }
  return counts;
}

std::string to_json(const Vocabulary& v) { return json{{"format", format}, {"merges", v.merges()}}.dump() + "\n"; }

Vocabulary vocabulary_of(const std::string& text, const std::string& path) {
  const json all = try_json(text);
  if (!all.is_object() || !all.contains("format") || all["format"] != format)
    failure("{} is not a vocabulary of this version of poslab: its \"format\" is not \"{}\"", path, format);
  std::vector<Vocabulary::Merge> merges;
  const json list = all.value("merges", json());
  if (!list.is_array()) failure("{} is damaged: it has no list of merges", path);
  for (const json& m : list) {
    const bool two = m.is_array() && m.size() == 2;
    const auto left = two ? whole_number(m[0], INT_MAX) : std::nullopt,
               right = two ? whole_number(m[1], INT_MAX) : left;
    if (!left || !right)
      failure("{} is damaged: merge {} is {}, and not two tokens' numbers", path, merges.size(), in_short(m));
    merges.emplace_back(int(*left), int(*right));
  }
  return prefix_errors(path, [&] { return Vocabulary(std::move(merges)); });
}

}  // namespace poslab
