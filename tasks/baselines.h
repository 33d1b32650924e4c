#pragma once
#include "tasks/task.h"

namespace poslab {

// Accuracies that need no understanding of the task, 0 to 1, computed from samples (spec B.1, finding 4).
struct Baselines {
  double chance = 0;         // uniform over the output symbols
  double majority = 0;       // always the most frequent symbol of each output slot, found on other samples
  double content_only = 0;   // the same answer in every slot, from the count of each input symbol alone
};
Baselines baselines(const Task&, int length, int samples, uint64_t seed);

}  // namespace poslab
