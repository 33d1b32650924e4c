// The demo: one small model learns to sort short strings, once with plain and once with randomized positions; then both
// sort longer ones.
#pragma once
#include <string>

#include "experiment/choice_table.h"

namespace poslab {

// The options of both runs, with the demo's defaults; without presets, positions and out, which are fixed here.
const ChoiceTable& demo_choices();

// Trains into FOLDER/demo-plain and FOLDER/demo-randomized, with `more` for both, and draws them in FOLDER/demo.html;
// demo.csv has the accuracy by length. A complete run is not trained again, and an interrupted one is continued.
// Returns the table of accuracies and the path of the page. Throws BadInput if the folder has a run of other settings,
// and keeps that run.
std::string demo(const std::string& folder, const Settings& more);

}  // namespace poslab
