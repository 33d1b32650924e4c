// Windows of text: their places in a corpus, as values. A corpus is files of bytes, read by the caller's function
// (lab/files/corpus.h), so that it need not fit into memory.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/random.h"
#include "tasks/language/tokenizer.h"

namespace poslab {

uint64_t hash_of(const std::string& path);       // hash of a path within the corpus
// Whether a file belongs to the test set: a function of its path alone, true for one in ten. So it stays there when
// other files are added or removed, and training never sees any part of a test window.
bool in_test_set(const std::string& path);

struct TextFile {
  std::string path;                              // within the corpus, with '/'
  int64_t bytes = 0, from = 0;                   // from: where a document begins in the file
};
struct Text {
  std::vector<TextFile> files;
  std::function<std::string(const TextFile&, int64_t from, int64_t bytes)> read;
  enum class Cut { none, begins, ends } cut = Cut::none;   // a part of a file, which begins or ends within it
  int64_t bytes() const;
};
// The files of the training or the test set. If one set is empty, the file with the smallest hash moves to it.
// A single file is split: its last tenth is the test set. Throws BadInput for a text without files.
Text training_text(const Text&);
Text test_text(const Text&);

// A text whose files are the documents of this one: the non-empty stretches between separators. A document
// that the split of a single file cuts in two is left out. There are no files if the text has no separator.
Text documents_of(const Text&, const std::string& separator);

// How many different windows draw_window() may return, at most: one for each byte where one can begin.
int64_t windows(const Text&, int tokens);

// `tokens` consecutive tokens of one file, from a random byte with enough bytes after it; so a window may begin within
// a word. Reads tokens x longest token bytes, and more if these give too few tokens. Throws BadInput if no file is long
// enough, or if 1000 draws find no window of that many tokens.
TokenizedText draw_window(const Text&, const Tokenizer&, int tokens, Rng&);
// The beginning of a document, which is a file of the text, each equally likely: at least two tokens, at most `tokens`.
// Throws BadInput if 1000 draws find no file of two tokens.
TokenizedText draw_document(const Text&, const Tokenizer&, int tokens, Rng&);

}  // namespace poslab
