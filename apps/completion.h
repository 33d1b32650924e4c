// `poslab completion SHELL`: the script that makes bash, zsh or fish complete commands, options and names. It asks
// `poslab complete`, which answers from the program's own commands and table of options (experiment/config.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace poslab {

// Adds its argument to the command `completion`; the result runs it.
std::function<void()> add_completion(CLI::App* completion);
// Prints the candidates for the last of `words`, which may be empty: one per line, after a tab its help text. Nothing
// for a file or a number.
void complete(std::vector<std::string> words, const CLI::App& program);

}  // namespace poslab
