// eval.csv of a run folder, and eval-NAME.csv of other tests (lab/runs/other_test.h): a line for each tested length,
// accuracies and baselines as fractions.
//
//   length,accuracy,unmasked_accuracy,loss,samples,guess,majority,content_only
#pragma once
#include <string>
#include <vector>

#include "experiment/evaluate.h"

namespace poslab {

std::string to_csv(const std::vector<AtLength>&);
// By rising length, at least one. BadInput if the folder has none, Failure if it is damaged.
std::vector<AtLength> read_eval_csv(const std::string& folder, const std::string& name = "eval.csv");

}  // namespace poslab
