// Messages of lower layers, which name options as files and Python do, with the option names of the command line.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace poslab {

// Turns "key_heads = 8 ..." into "--key-heads 8 ...", and max_position into --max-position, for options of `command`.
// Messages about a line of a file stay.
std::string as_options(const std::string& message, const CLI::App& command);

}  // namespace poslab
