// The pictures of a ranking.
#pragma once
#include <optional>

#include "lab/papers/compare/ranking.h"
#include "tasks/baselines.h"

namespace poslab::compare {

reproduce::Picture dots(const Ranking&, const std::string& id);  // a row for each scheme that is ranked
// Accuracy against length on one task: its best few, and `none`. No html if nothing was tested on it.
reproduce::Picture lengths(const Ranking&, const std::string& task, const std::string& id);

// Of the first scheme's run on a task; absent if there is none.
std::optional<Baselines> baselines(const Ranking&, const std::string& task);
std::vector<std::pair<std::string, double>> mean_baselines(const Ranking&);  // over the tasks that count

}  // namespace poslab::compare
