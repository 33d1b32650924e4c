// Text on disk: a file, or all files in a folder and its subfolders. Only their names and sizes are kept in memory;
// a window is read when it is drawn (tasks/language/text.h).
#pragma once
#include <string>
#include <vector>

#include "tasks/language/text.h"
#include "tasks/language/vocabulary.h"

namespace poslab {

struct Corpus {
  std::string path;                              // as the user named it
  Text text;                                     // files in the order of their paths, the same on every machine
  // "a/b.png: it has a zero byte at 8, so it is not text"; in the same order
  std::vector<std::string> passed_over;
  std::string summary() const;                   // "/usr/include/c++/14: 780 files, 6.5 MB, 3 skipped"
};
std::string checksum_of(const Text&, const TextFile&);   // core/checksum.h over all bytes of the file

// Keeps all bytes, whether or not the text is UTF-8. Skips files with a zero byte among their first 8192, such as
// pictures and programs, unreadable files and folders, empty files, and names that begin with a dot. Follows links,
// but not to a folder that was already read. Throws BadInput if `path` does not exist, is a file that is not text, or
// is a folder without text.
Corpus open_corpus(const std::string& path);
// The text of a run that names none: the newest C++ headers of this machine's compiler, /usr/include/c++/N. Throws
// BadInput if there are none.
std::string compilers_headers(const std::string& folder = "/usr/include/c++");

// The words of a text for Vocabulary::learn: from whole files in the order of the hash of their paths, until `most`
// bytes are read. Files are read in pieces, so that memory holds only the distinct words.
WordCounts words_of(const Text&, int64_t most);

// {"format": "poslab vocabulary 1", "merges": [[104, 101], ...]}
std::string to_json(const Vocabulary&);
Vocabulary vocabulary_of(const std::string& json, const std::string& path);   // throws Failure with the path

}  // namespace poslab
