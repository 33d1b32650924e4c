// The options of a run in files and on pages: by name, as text or as JSON.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/kind.h"

namespace poslab {

// The kind of the run in this folder, by its config.toml; language models for an external checkpoint, else strings.
const Kind& kind_of_folder(const std::string& path);
// The common kind of these folders. Throws BadInput if their kinds differ; `command` is for the message.
const Kind& one_kind(const std::vector<std::string>& folders, const char* command);

using Values = std::map<std::string, std::string>;    // values of options, by name
Values values_of(const Choices&);                     // all kept values

// The kept options in their order, each of its own type; as in result.json and in a plan.
nlohmann::ordered_json config_json(const Choices&);
nlohmann::ordered_json typed(const Option&, const std::string& value);
// Throws BadInput for anything but an object, an unknown option, or a value that the option refuses.
Choices config_of(const Kind&, const nlohmann::ordered_json&);

}  // namespace poslab
