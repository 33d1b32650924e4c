// A configuration as TOML: config.toml, the file of --config, and the configuration inside a checkpoint.
#pragma once
#include <string>

#include "experiment/config.h"

namespace poslab {

Settings read_toml(const std::string& text, const std::string& source);  // throws BadInput with file and line
std::string to_toml(const Config&);  // the kept options, with their help as comments

}  // namespace poslab
