// The text of a run, for kinds whose options name one. Unless the text is a grammar, the run folder has
//
//   vocabulary.json       the tokens (lab/files/corpus.h); if the run began with a checkpoint of Hugging Face's form,
//                         that checkpoint's tokenizer.json, or its tokenizer.model and tokenizer_config.json
//   text.json             {"text", "files": [{"path", "bytes", "checksum"}, ...], "vocabulary"}; another text and other
//                         tokens are refused by it; "vocabulary" is the checksum of the file of tokens, and "begin" and
//                         "ends" are the tokens that begin and end a text, where a checkpoint has them
#pragma once
#include "experiment/language/language.h"
#include "lab/runs/run_folder.h"

namespace poslab {

using TextSource = std::shared_ptr<const language::Source>;

struct NewText {
  TextSource source;       // absent for a run without a text
  RunFolder::Files files;  // for the run folder
  std::string summary;     // "~/books: 12 files, 3.1 MB; 259 tokens, "; else ""
};
// Reads the text and learns its tokens, or takes the tokens of the run or checkpoint in the folder `from`. Throws
// BadInput if the text cannot be read, or has no windows of the given lengths.
NewText new_text(const Choices&, const std::string& from = "");
// The files with a run's tokens, by name and bytes.
RunFolder::Files token_files(const std::string& folder);
// The run's text, unchanged since the run began. The text is read and compared only before the first window, and
// refused there if missing or changed: a run that only writes needs just its tokens. Throws Failure for damaged files.
TextSource text_again(const RunFolder&, const Choices&);

// The content of text.json, for a run that does not read a grammar. Throws Failure.
struct TextRecord {
  struct File {
    std::string path;                            // within the text
    int64_t bytes;
    std::string checksum;                        // checksum of its content (lab/files/corpus.h)
  };
  std::string path;
  std::vector<File> files;
  std::string vocabulary;                        // checksum of its tokens; "" for an older run
  std::vector<int> begin{}, ends{};              // tokens (Source)
  int64_t bytes() const;
  std::string checksum() const;                  // core/checksum.h over names and contents of the files
};
TextRecord text_of(const std::string& folder);
// TextRecord::checksum() of the text at this path; "": of the compiler's headers. Reads the whole text. Throws as
// open_corpus().
std::string checksum_of_text(const std::string& path);

}  // namespace poslab
