// A configuration as TOML: config.toml, the file of --config, and the configuration inside a checkpoint.
#pragma once
#include <string>

#include "experiment/choice_table.h"
#include "lab/runs/run_config.h"

namespace poslab {

// Throws BadInput with file and line.
Settings read_toml(const std::string& text, const std::string& source, RunKind = RunKind::task);
// The kept options, with their help as comments.
std::string to_toml(const Config&);
std::string to_toml(const ChoiceTable&, const Choices&);

}  // namespace poslab
