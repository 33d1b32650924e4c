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
  // footer: what follows the options in its help.
  CLI::App* add(const char* name, const char* summary, const std::string& footer, std::function<void()> action);
  // declare: adds options and a footer, and returns the action. Of poslab's own commands only the one that is typed
  // declares itself: all of them take longer than the program takes to start.
  using Declare = std::function<std::function<void()>(CLI::App*)>;
  void add(const char* name, const char* summary, const Declare& declare);
  void declare_all();                      // all the same: to search them, or to explain one that was not typed
  void act(const std::string& full_name);  // runs the chosen command; BadInput for an unknown one

 private:
  void declare(CLI::App*);

  CLI::App* of_;
  std::map<CLI::App*, std::function<void()>> actions_;
  std::map<CLI::App*, Declare> undeclared_;
};

void add_threads(CLI::App*, std::string& word);  // --threads, for commands that read it themselves
void add_device(CLI::App*, std::string& word);   // --device, of the same commands
void add_matmul(CLI::App*, std::string& word);   // --matmul, of the same commands
void add_width(CLI::App*, std::string& width);     // --width, of commands that write figures for papers
void add_force(CLI::App*, bool& force);          // --force: a run that seems too large or too long starts all the same

}  // namespace poslab
