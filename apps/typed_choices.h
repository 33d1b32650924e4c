// The options of a run (experiment/choice_table.h), as typed.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "experiment/choice_table.h"

namespace poslab {

class TypedChoices {
 public:
  void add(CLI::App* command, const ChoiceTable&);
  // words: "--lengths,--eval-lengths"; of_run: for options of an existing run, whose values are the defaults
  void add(CLI::App* command, const ChoiceOption&, const std::string& words, bool of_run = false);
  // The typed options, spelled out and without repeats. Throws BadInput for an option with two values.
  Settings settings(const std::string& but = "") const;
  std::string typed(const std::string& name) const;      // an option as typed, or ""

 private:
  struct Typed {
    Option option;
    CLI::Option* words = nullptr;
    std::vector<std::string> texts() const;   // none if the option was not typed
  };
  std::vector<Typed> options_;
};

}  // namespace poslab
