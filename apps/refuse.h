// Errors for words that no command accepts: one line with the word and the remedy.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace poslab {

// Throws BadInput for the first word that `command` does not accept, with the nearest option.
void refuse_unknown(const CLI::App& command, const std::string& full_name);
// The chosen subcommand. Throws BadInput for an unknown or a missing one.
CLI::App* chosen_command(const CLI::App& of, const std::string& full_name);
// Throws BadInput in place of CLI11's error for a missing argument or value. `app`: the program.
[[noreturn]] void refuse(const CLI::ParseError&, const CLI::App& app);
// Throws BadInput for an option that names a file or a folder and has an empty value, which would count as absent.
void refuse_empty(const CLI::App& command, const std::string& full_name);
// Prints the help of `poslab sweep run` for {"sweep", "run"}. Throws BadInput for an unknown command.
void print_help(const CLI::App& app, const std::vector<std::string>& words);

// Lower layers name options in messages as files and Python do. This respells the options of `command` as on the
// command line: "key_heads = 8 ..." becomes "--key-heads 8 ...", and max_position becomes --max-position. Messages
// about a line of a file stay as they are.
std::string as_options(const std::string& message, const CLI::App& command);

std::vector<const CLI::App*> commands_in_help(const CLI::App&);  // without commands that only poslab itself runs
std::vector<std::string> commands_of(const CLI::App&);           // their names
std::vector<std::string> options_of(const CLI::App&);  // "--lengths", "-o", as typed

}  // namespace poslab
