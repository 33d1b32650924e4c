// The demo: one small model learns to sort short strings, once with plain and once with randomized positions; then both
// sort longer ones.
#pragma once
#include <string>

#include "experiment/choice_table.h"

namespace poslab {

// The options of both runs, at the demo's own defaults; without presets, positions and out, which are no choice here.
const ChoiceTable& demo_choices();

// Trains into FOLDER/demo-plain and FOLDER/demo-randomized, with `more` for both, and draws them in FOLDER/demo.html;
// demo.svg has the chart of accuracy by length alone, and demo.csv its numbers. A run that is complete is not trained
// again, and one that was cut off goes on. Gives the table of accuracies, and where the page is. Throws BadInput for a
// run of other settings, which stays.
std::string demo(const std::string& folder, const Settings& more);

}  // namespace poslab
