// All options of a run of a task: one table (experiment/choice_table.h), in experiment/options.cpp. Their combinations
// are checked in experiment/check.cpp; the objects built from them are in experiment/build.h.
#pragma once
#include "experiment/run_spec.h"

namespace poslab {

const ChoiceTable& all_choices();
Option test_positions_option();
const ChoiceOption& choice_option(const std::string& name);
const Option& option(const std::string& name);   // throws BadInput with did-you-mean

Choices configure(const Settings&);                    // throws BadInput, as the table's configure()
// The options of a new run; if they name no engine for products, it gets the process's.
Settings of_new_run(Settings);

void check(const RunSpec&);  // experiment/check.cpp: throws BadInput if the choices do not fit together

}  // namespace poslab
