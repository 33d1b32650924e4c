// The commands of `poslab` itself, and the subcommands of `poslab lm`.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>

namespace poslab {

class Commands {
 public:
  explicit Commands(CLI::App* of);
  // The command's help ends with help_text() of its full name, "sweep-run".
  CLI::App* add(const char* name, const char* summary, std::function<void()> action);
  // declare: adds options, and returns the action. Only the typed command is declared, because declaring all commands
  // would take longer than the rest of the program's start.
  using Declare = std::function<std::function<void()>(CLI::App*)>;
  void add(const char* name, const char* summary, const Declare& declare);
  void declare_all();                      // declares the other commands, too, for searches and for their help
  void act(const std::string& full_name);  // runs the chosen command; throws BadInput for an unknown one

 private:
  void declare(CLI::App*);

  CLI::App* of_;
  std::map<CLI::App*, std::function<void()>> actions_;
  std::map<CLI::App*, Declare> undeclared_;
};

std::string help_text(const std::string& command);  // apps/help/COMMAND.txt, or ""
void add_threads(CLI::App*, std::string& word);     // --threads, for commands that read it themselves
void add_device(CLI::App*, std::string& word);      // --device, for the same commands
void add_matmul(CLI::App*, std::string& word);      // --matmul, for the same commands
void add_width(CLI::App*, std::string& width);      // --width, of commands that write figures for papers
void add_force(CLI::App*, bool& force);             // --force: start a run even if it seems too large or too long

}  // namespace poslab
