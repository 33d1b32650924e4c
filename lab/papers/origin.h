// The origin of the runs behind a page: commits, instruction set, numerics number, processors, days, the time they
// took, and whether this program would still give the same.
#pragma once
#include <string>

#include "lab/papers/outcomes.h"

namespace poslab::reproduce {

// "Old: ..." first, if a number is missing, is not this program's, or if there are several. "" where no run is done.
// Time is that of training on one core each.
std::string origin(const std::vector<RunRecord>& done);
// And the trials not yet done, priced by the median of the done runs of their task.
std::string origin(const Outcomes&);

}  // namespace poslab::reproduce
