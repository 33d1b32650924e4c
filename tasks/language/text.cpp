#include "tasks/language/text.h"

#include <algorithm>

#include "core/error.h"

namespace poslab {

// 64-bit FNV-1a, its bits then mixed (the finalizer of SplitMix64), so that paths that
// differ only at their end are drawn independently.
uint64_t hash_of(const std::string& path) {
  uint64_t h = 0xCBF29CE484222325u;
  for (const char c : path) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u;
  h = (h ^ h >> 27) * 0x94D049BB133111EBu;
  return h ^ h >> 31;
}

namespace {

Text side(const Text& all, bool test) {
  if (all.files.empty()) bad_input("the text has no files; name a file or a folder with text");
  if (all.files.size() == 1) {
    const TextFile& whole = all.files[0];
    const int64_t last = whole.bytes - whole.bytes / 10;   // where its last tenth begins
    return {{{whole.path, test ? whole.bytes - last : last}},
            [all, test, last](const TextFile&, int64_t from, int64_t bytes) {
              return all.read(all.files[0], test ? last + from : from, bytes);
            },
            test ? Text::Cut::begins : Text::Cut::ends};
  }
  const auto of_test = [](const TextFile& f) { return in_test_set(f.path); };
  const bool none = std::none_of(all.files.begin(), all.files.end(), of_test),
             every = std::all_of(all.files.begin(), all.files.end(), of_test);
  const auto smallest = std::min_element(all.files.begin(), all.files.end(), [](const TextFile& a, const TextFile& b) {
    return std::pair(hash_of(a.path), a.path) < std::pair(hash_of(b.path), b.path);
  });
  Text part{{}, all.read};
  for (const TextFile& f : all.files) {
    const bool changes = (none || every) && f.path == smallest->path;
    if ((of_test(f) != changes) == test) part.files.push_back(f);
  }
  return part;
}

}  // namespace

bool in_test_set(const std::string& path) { return hash_of(path) % 10 == 0; }

int64_t Text::bytes() const {
  int64_t all = 0;
  for (const TextFile& f : files) all += f.bytes;
  return all;
}

Text training_text(const Text& all) { return side(all, false); }
Text test_text(const Text& all) { return side(all, true); }

Text documents_of(const Text& text, const std::string& separator) {
  constexpr int64_t piece = 1 << 20;  // bytes that are read at once
  Text all{
      {}, [read = text.read](const TextFile& f, int64_t from, int64_t bytes) { return read(f, f.from + from, bytes); }};
  bool any = false;
  for (const TextFile& file : text.files) {
    int64_t begin = 0, first = 0;  // of the document, and of `bytes`, in the file
    const auto add = [&](int64_t end) {
      if (end > begin && (begin > 0 || text.cut != Text::Cut::begins))
        all.files.push_back({file.path, end - begin, begin});
    };
    std::string bytes;
    for (int64_t read = 0; read < file.bytes; read += piece) {
      bytes += text.read(file, read, std::min(piece, file.bytes - read));
      size_t next = bytes.size() - std::min(bytes.size(), separator.size() - 1);  // a separator may begin from here on
      for (size_t at, from = 0; (at = bytes.find(separator, from)) != bytes.npos; any = true) {
        add(first + int64_t(at));
        from = at + separator.size(), next = std::max(next, from), begin = first + int64_t(from);
      }
      bytes.erase(0, next), first += int64_t(next);
    }
    if (text.cut != Text::Cut::ends) add(file.bytes);
  }
  return any ? all : Text{};
}

namespace {

// `tokens` tokens of a file from byte `at` on, or fewer where the file ends. Reads three bytes more, for the
// end of a character that is cut off at the beginning; and more where tokens of unknown or composed characters cover
// more bytes than the longest token has.
TokenizedText tokens_at(const Text& text, const TextFile& file, int64_t at, int tokens, const Tokenizer& vocabulary) {
  const int64_t left = file.bytes - at, usual = int64_t(tokens) * int64_t(vocabulary.longest()) + 3;
  for (int64_t most = std::min(left, usual);; most = std::min(left, 4 * most)) {
    TokenizedText window = vocabulary.tokenize(text.read(file, at, most), size_t(tokens));
    if (int(window.tokens.size()) == tokens || most == left || most >= 64 * usual) return window;
  }
}

int64_t starts(const TextFile& f, int tokens) { return std::max<int64_t>(0, f.bytes - tokens + 1); }

}  // namespace

int64_t windows(const Text& text, int tokens) {
  int64_t all = 0;
  for (const TextFile& f : text.files) all += starts(f, tokens);
  return all;
}

TokenizedText draw_window(const Text& text, const Tokenizer& vocabulary, int tokens, Rng& rng) {
  const int64_t all = windows(text, tokens);
  int64_t longest = 0;
  for (const TextFile& f : text.files) longest = std::max(longest, f.bytes);
  if (tokens < 1) bad_input("a window of {} tokens; ask for at least 1", tokens);
  if (all == 0)
    bad_input(
        "no file has {} tokens: the longest (of {} read here) has {} bytes; a test reads one file in ten, or "
        "the last tenth of a single one: use shorter windows, or a longer text",
        tokens, text.files.size(), longest);
  for (int draw = 0; draw < 1000; ++draw) {
    int64_t at = int64_t(rng.uniform() * double(all));
    auto file = text.files.begin();
    while (at >= starts(*file, tokens)) at -= starts(*file++, tokens);
    TokenizedText window = tokens_at(text, *file, at, tokens, vocabulary);
    if (int(window.tokens.size()) == tokens) return window;
  }
  bad_input(
      "1000 draws found no window of {} tokens before a file ended; the longest (of {} read here) has {} "
      "bytes: use shorter windows, or a longer text",
      tokens, text.files.size(), longest);
}

TokenizedText draw_document(const Text& text, const Tokenizer& vocabulary, int tokens, Rng& rng) {
  for (int draw = 0; draw < 1000; ++draw) {
    const TextFile& file = text.files[rng.below(uint32_t(text.files.size()))];
    TokenizedText document = tokens_at(text, file, 0, tokens, vocabulary);
    if (document.tokens.size() > 1) return document;
  }
  bad_input("1000 draws of {} files on this side, training or test, found no document of two tokens; use a text with "
            "longer files", text.files.size());
}

}  // namespace poslab
