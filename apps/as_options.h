// What the floors below say of options, which they call as files and Python do, in the words of the command line.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace poslab {

// "key_heads = 8 ..." as "--key-heads 8 ...", and max_position as --max-position, of what `command` has. What is said
// of a line in a file stays.
std::string as_options(const std::string& message, const CLI::App& command);

}  // namespace poslab
