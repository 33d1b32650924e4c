// The inside of runs, as a folder: dispersion.csv, logits.csv, biases.csv and a self-contained index.html; except for
// T5s also pca.csv, pca.npz, attention.npz and coverage.csv.
#pragma once
#include <string>
#include <vector>

namespace poslab::inspect {

// The runs are of tasks, of language models (experiment/language/inside.h) or of T5s (experiment/t5/inside.h). lengths:
// empty for each run's own (experiment/lengths.h; for a language model the trained length and twice that, for a T5 four
// times that). device: "" for each run's own. text: for language models, shown with its attention in place of the
// test's first text. Throws BadInput, before anything is written, if a run is missing, if kinds of run are mixed, if a
// length does not fit or, unless `force`, if the memory seems too small; Failure if `out` cannot be written.
void write(const std::vector<std::string>& runs, const std::vector<int>& lengths, int samples, const std::string& out,
           const std::string& device = "", const std::string& text = "", bool force = false);

}  // namespace poslab::inspect
