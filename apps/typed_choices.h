// The options of a training whose options are one table (experiment/choice_table.h), as typed.
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
  Settings settings() const;                     // those that were typed

 private:
  std::map<std::string, std::string> text_;
  std::vector<std::pair<std::string, CLI::Option*>> options_;
};

}  // namespace poslab
