// A run of a T5 on disk: a run folder (lab/runs/run_folder.h) whose
//
//   result.json           is what trained it, how large it is and how long it took (lab/runs/run_record.h)
//   eval.csv              task,length,samples,loss,accuracy,accuracy_1,...,accuracy_8: a row for each task and length,
//                         the last columns by where the answer stood, from the beginning of the context to its end,
//                         nan where none did
#pragma once
#include "experiment/t5/t5.h"
#include "lab/runs/run_folder.h"

namespace poslab::t5 {

struct Run {
  RunFolder folder;
  State state;
};
Run create(const Choices&);              // a new run at step 0. Throws BadInput
Run open(const std::string& folder);     // as it was left. Throws BadInput: not a run of a T5, or it was changed

// Up to its last step; a signal throws Interrupted after a last checkpoint.
void train(Run&);
// All tasks at all lengths, with a bar. Throws Interrupted; `again` is the command that does it again.
std::vector<AtLength> evaluate(const T5&, const Choices&, const std::string& again);
std::string to_csv(const std::vector<AtLength>&);
std::vector<AtLength> read_csv(const std::string& path);  // throws Failure: there is no such file, or it is damaged
std::string table(const std::vector<AtLength>&);          // for a terminal

// Columns of tables: ",accuracy_1,...,accuracy_8", ",0.5,...,nan" and, for a terminal, "   50 ...    -".
std::string headings_of_places();
std::string cells_of_places(const double (&accuracy)[places]);
std::string shown_places(const double (&accuracy)[places]);

}  // namespace poslab::t5
