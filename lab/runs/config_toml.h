// A configuration as TOML: config.toml, the file of --config, and the configuration inside a checkpoint.
#pragma once
#include <string>

#include "lab/runs/spelled_file.h"
#include "lab/runs/values.h"

namespace poslab {

// Throws BadInput with file and line.
Settings read_toml(const std::string& text, const std::string& source, const Kind& = strings_kind(),
                   SpelledFiles = SpelledFiles::none);
std::string to_toml(const Choices&);   // the kept options, with their help as comments

}  // namespace poslab
