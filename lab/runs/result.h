// The end of `train` and `eval`: result.json (lab/runs/run_record.h), eval.csv (lab/runs/eval_csv.h) and the table on
// the screen.
#pragma once
#include "experiment/evaluate.h"
#include "lab/runs/other_test.h"

namespace poslab {

// Writes eval.csv and result.json. seconds: of training since step 0; without them (the run was only tested) the
// earlier result's figures stay. Of another test than the run's own: its two files in their place.
void write_result(const RunFolder&, const State&, const std::vector<AtLength>&, std::optional<double> seconds,
                  const OtherTest& = {});

// Accuracy by length in about ten rows, and the scores, each beside the three baselines.
std::string summary(const State&, const std::vector<AtLength>&, std::optional<double> seconds);

}  // namespace poslab
