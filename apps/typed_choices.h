// The options of a run (experiment/choice_table.h), as typed.
#pragma once
#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiment/choice_table.h"

namespace poslab {

class TypedChoices {
 public:
  void add(CLI::App* command, const ChoiceTable&);
  // words: "--lengths,--eval-lengths"; of_run: of a run that is there, which has its own in place of the default
  void add(CLI::App* command, const ChoiceOption&, const std::string& words, bool of_run = false);
  Settings settings(const std::string& but = "") const;  // those that were typed, each completed
  std::string typed(const std::string& name) const;      // one of them as it was typed; "": not at all

 private:
  std::map<std::string, std::string> text_;
  std::vector<std::pair<std::string, CLI::Option*>> options_;
};

}  // namespace poslab
