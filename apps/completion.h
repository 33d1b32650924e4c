// `poslab completion SHELL`: the script that makes bash, zsh or fish complete commands, options and names. It asks
// `poslab complete`, which answers from the commands as they stand in the program and from the table of options
// (experiment/config.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace poslab {

// Adds its argument to the command `completion`; the result runs it.
std::function<void()> add_completion(CLI::App* completion);
// Prints what the last of `words`, which may be empty, may become: a candidate a line, after a tab what the help says
// of it. Nothing where a file or a number comes.
void complete(std::vector<std::string> words, const CLI::App& program);

}  // namespace poslab
