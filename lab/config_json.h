// A configuration as JSON: the kept options in their order, each of its own type; as in result.json and in a plan.
#pragma once
#include <nlohmann/json.hpp>

#include "experiment/config.h"

namespace poslab {

nlohmann::ordered_json config_json(const Config&);
// Throws BadInput: not an object, an unknown option, a value that the option does not take.
Config config_of(const nlohmann::ordered_json&);

}  // namespace poslab
