// The three sizes of a source's artifacts. A size is like the top of a sweep's file (lab/runs/sweep/plan.h): a preset
// of options (experiment/presets.txt), and its tasks, seeds and learning rates.
#pragma once
#include <string>
#include <vector>

#include "lab/runs/sweep/sweep.h"

namespace poslab::reproduce {

using namespace sweep;  // the trials of a reproduction are a sweep

struct Size {
  std::string name, summary;
  ValueLists head;
};
const std::vector<Size>& all_sizes();
const Size& size(const std::string& name);  // throws BadInput with did-you-mean

const std::vector<std::string>& fifteen();  // all tasks of Ruoss et al., in their table 1's order

// The trials of `lists` and `also` at this size. For an option, `lists` takes precedence over `settings`, and these
// over the size.
Plan trials_at(const Size&, const ValueLists& settings, const ValueLists& lists, const std::vector<ValueLists>& also);
// Throws BadInput if runs would have no score (experiment/evaluate.h) because tests begin too late or end too early.
void check_scored(const Size&, const ValueLists& settings);
// The first trial of the size with these settings and any encoding: the basis of an artifact's choices.
Choices defaults(const Size&, const ValueLists& settings);

}  // namespace poslab::reproduce
