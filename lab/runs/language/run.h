// A run of a language model on disk: a run folder (lab/runs/run_folder.h) that also has
//
//   vocabulary.json       the tokens (lab/files/corpus.h), unless the text is a grammar
//   text.json             {"text", "files", "bytes", "listing"}: what the run reads. A text that has changed is refused
//   result.json           what trained it, how large it is and how long it took (lab/runs/run_record.h); not in older
//                         runs
//   eval.csv              length,set,samples,loss,accuracy,bits_per_byte,loss_1,...,loss_8,accuracy_1,...,accuracy_8
#pragma once
#include "experiment/language/language.h"
#include "lab/runs/run_folder.h"

namespace poslab::language {

struct Run {
  RunFolder folder;
  Source source;
  State state;
};
// What a run reads that reads no grammar, as it was when the run began: from its text.json. Throws Failure.
struct ReadText {
  std::string path;
  size_t files;
  int64_t bytes;
};
ReadText text_of(const std::string& folder);
// A new run at step 0: reads the text, learns its tokens, makes the folder. Throws BadInput.
Run create(const Choices&);
// As it was left. Throws BadInput: not a run of a language model, its text is not there or has changed.
Run open(const std::string& folder);

// Up to its last step; a signal throws Interrupted after a last checkpoint.
void train(Run&);
// At all lengths, plain and repeated, with a bar. Throws Interrupted; `again` is the command that does it again.
std::vector<AtLength> evaluate(const Decoder&, const Choices&, const Source&, const std::string& again);
std::vector<AtLength> evaluate(const Run&);
std::string to_csv(const std::vector<AtLength>&);
std::vector<AtLength> read_csv(const std::string& path);  // throws Failure: there is no such file, or it is damaged
std::string table(const std::vector<AtLength>&);         // for a terminal

}  // namespace poslab::language
