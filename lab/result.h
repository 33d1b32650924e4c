// What a run came to: result.json, eval.csv and the table at the end of `train` and `eval`.
#pragma once
#include "lab/evaluate.h"
#include "lab/run_folder.h"
#include "lab/train.h"

namespace poslab {

// Writes eval.csv and result.json. Of a Speed without steps (the run was not trained now) the earlier result's figures
// stay.
void write_result(const RunFolder&, const State&, const std::vector<AtLength>&, Speed);

// Accuracy by length in about ten rows, and the scores, each beside the three baselines.
std::string summary(const State&, const std::vector<AtLength>&, Speed);

}  // namespace poslab
