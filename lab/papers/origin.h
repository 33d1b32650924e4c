// By what the runs behind a page were trained: commits, instruction set, numerics number, processors, days, the time it
// took, and whether all that is still what this program would give.
#pragma once
#include <string>

#include "lab/papers/outcomes.h"

namespace poslab::reproduce {

// "Old: ..." first, if a number is missing, is not this program's, or if there are several. "" where no run is done.
// Time is that of training on one core each.
std::string origin(const std::vector<RunRecord>& done);
// And what is not done yet, priced by the median of the done runs of its task.
std::string origin(const Outcomes&);

}  // namespace poslab::reproduce
