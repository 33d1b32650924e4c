// What no command understands.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace poslab {

// Throws BadInput for the first word that `command` left over, with what it is near to.
void refuse_unknown(const CLI::App& command, const std::string& full_name);
// The subcommand that was chosen. None if no word was given at all; BadInput for a word that is none.
CLI::App* chosen_command(const CLI::App& of, const std::string& full_name);

}  // namespace poslab
