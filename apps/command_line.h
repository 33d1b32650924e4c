// The command line of `poslab`: declares all commands, parses the words, runs the command.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/typed_choices.h"

namespace poslab {

class CommandLine {
 public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;  // commands hold references to the parsed words
  CommandLine& operator=(const CommandLine&) = delete;
  // Prints the answer to --help and --version, and returns false if there is nothing else to do. Throws BadInput for
  // unknown words.
  bool parse(int argc, const char* const* argv);
  void act();  // runs the parsed command
  const CLI::App& app() const { return app_; }
  const CLI::App& whole();  // the program with the options of all commands, for searches

 private:
  CLI::App app_;
  Commands commands_{&app_};
  std::string listed_kind_, listed_, page_ = "report.html", width_, demo_folder_ = "runs";
  bool slides_ = false;
  std::vector<std::string> runs_, explained_;
  TypedChoices demonstrating_;
  bool measure_ = false;
};

}  // namespace poslab
