// The text that a run reads, for kinds whose options name one. Its run folder has, unless the text is a grammar,
//
//   vocabulary.json       the tokens (lab/files/corpus.h)
//   text.json             {"text", "files", "bytes", "listing"} of the text, by names and sizes: a text that has other
//                         ones is refused, and an edit that keeps them is not seen
#pragma once
#include "experiment/language/language.h"
#include "lab/runs/run_folder.h"

namespace poslab {

using TextSource = std::shared_ptr<const language::Source>;

struct NewText {
  TextSource source;       // absent for a run that reads none
  RunFolder::Files files;  // for the run folder
  std::string summary;     // "~/books: 12 files, 3.1 MB; 259 tokens, "; else ""
};
// Reads it and learns its tokens. Throws BadInput: it cannot be read, or has no windows of the lengths asked for.
NewText new_text(const Choices&);
// As it was when the run began. Of a text that is not there or has changed, the tokens alone: its `gone` says so to
// who wants a window. Throws Failure for damaged files.
TextSource text_again(const RunFolder&, const Choices&);

// The content of text.json, of a run that reads no grammar. Throws Failure.
struct TextRecord {
  std::string path;
  size_t files;
  int64_t bytes;
};
TextRecord text_of(const std::string& folder);

}  // namespace poslab
