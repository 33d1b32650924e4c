// The options of a run as its files and pages have them: by name, as text or as JSON.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/kind.h"

namespace poslab {

// By its config.toml; of language models for an external checkpoint, of strings if it has neither.
const Kind& kind_of_folder(const std::string& path);
// Of all of them. Throws BadInput, naming the command that is to look at them, if there are runs of several kinds.
const Kind& one_kind(const std::vector<std::string>& folders, const char* command);

using Values = std::map<std::string, std::string>;    // of options, by their names
Values values_of(const Choices&);                     // of all that are kept

// The kept options in their order, each of its own type; as in result.json and in a plan.
nlohmann::ordered_json config_json(const Choices&);
nlohmann::ordered_json typed(const Option&, const std::string& value);
// Throws BadInput: not an object, an unknown option, a value that the option does not take.
Choices config_of(const Kind&, const nlohmann::ordered_json&);

}  // namespace poslab
