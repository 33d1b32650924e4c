// The commands of a command: those of `poslab` itself, and those of `poslab lm`.
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
  // declare: adds options and a footer, and returns the action.
  void add(const char* name, const char* summary, const std::function<std::function<void()>(CLI::App*)>& declare);
  void act(const std::string& full_name) const;  // what was chosen; BadInput for a word that is no command

 private:
  CLI::App* of_;
  std::map<CLI::App*, std::function<void()>> actions_;
};

void add_threads(CLI::App*, std::string& word);  // --threads, for commands that read it themselves
void add_matmul(CLI::App*, std::string& word);   // --matmul, likewise
void add_force(CLI::App*, bool& force);          // --force, for those that refuse what seems too large

}  // namespace poslab
