// The demo: one small model learns one task on short strings, once with plain and once with randomized positions; then
// both answer longer ones.
#pragma once
#include <string>

#include "experiment/choice_table.h"

namespace poslab {

// The options of both runs, at the demo's own defaults; without presets, positions and out, which are no choice here.
const ChoiceTable& demo_choices();

// Trains into FOLDER/demo-plain and FOLDER/demo-randomized, with `more` for both, and draws them in FOLDER/demo.html.
// A run that is complete is not trained again, one that was cut off goes on, and one of other settings is replaced.
// Gives the table of accuracies, and where the page is.
std::string demo(const std::string& folder, const Settings& more);

}  // namespace poslab
