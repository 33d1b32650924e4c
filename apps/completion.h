// `poslab completion SHELL`: the script that makes bash, zsh or fish complete commands, options and names. It is made
// from the commands as they stand in the program and from the table of options (experiment/config.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Adds its argument to `completion`, a command of `program`; the result runs it.
std::function<void()> add_completion(CLI::App* completion, const CLI::App& program);

}  // namespace poslab
