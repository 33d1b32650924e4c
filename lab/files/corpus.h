// Text on disk: a file, or all files of a folder and of those within it. Only their names and sizes are kept in memory;
// a window is read where it is drawn (tasks/language/text.h).
#pragma once
#include <string>
#include <vector>

#include "tasks/language/text.h"
#include "tasks/language/vocabulary.h"

namespace poslab {

struct Corpus {
  std::string path;                              // as the user named it
  Text text;                                     // files in the order of their paths, so the same everywhere
  std::vector<std::string> passed_over;          // "a/b.png: it has a zero byte at 8, so it is no text"; in that order
  std::string summary() const;                   // "/usr/include/c++/14: 780 files, 6.5 MB, 3 passed over"
};
std::string checksum_of(const Text&, const TextFile&);   // core/checksum.h over all bytes of the file

// All bytes are kept, whether or not the text is UTF-8. Files with a zero byte among their first 8192, as
// pictures and programs have it, and files and folders that cannot be read are passed over; so are empty ones, and
// names that begin with a dot. Links are followed, but not to a folder that is read already.
// Throws BadInput: there is no such file or folder, a file that is named is no text, a folder has no text.
Corpus open_corpus(const std::string& path);
// With none named: the newest C++ headers of this machine's compiler, /usr/include/c++/N. Throws BadInput if there are
// none.
std::string compilers_headers(const std::string& folder = "/usr/include/c++");

// Words of a text for Vocabulary::learn: of whole files in the order of the hash of their paths, until `most` bytes are
// read, in pieces, so that memory holds the distinct words alone.
WordCounts words_of(const Text&, int64_t most);

// {"format": "poslab vocabulary 1", "merges": [[104, 101], ...]}
std::string to_json(const Vocabulary&);
Vocabulary vocabulary_of(const std::string& json, const std::string& path);   // throws Failure, naming the path

}  // namespace poslab
