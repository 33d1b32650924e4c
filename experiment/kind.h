// The kinds of run: strings of a task, a text, questions about a long context. What stands above asks a kind, and not
// which one it is.
#pragma once
#include "experiment/choice_table.h"

namespace poslab {

struct Kind {
  std::string name;                    // "strings"
  std::string word;                    // before the names of its commands: "", "lm " or "t5 "
  std::string studied;                 // the option that says what is learned
  std::string last_file;               // a run that has it is complete
  std::string format;                  // of checkpoints. It changes when an older one can no longer be read
  std::string checkpoints_are_read;    // "a T5; `poslab t5` reads", for the message to who takes one for another kind
  std::vector<std::string> tested;     // options that its eval can change, in the order in which they name a test
  const ChoiceTable& (*table)();
  Choices (*configure)(const Settings&);   // throws BadInput
  void (*check)(const Choices&);           // likewise, if the choices do not fit together

  bool operator==(const Kind& other) const { return name == other.name; }
  std::string command(const std::string& verb) const { return word + verb; }   // "lm train"
};

const Kind& strings_kind();
const Kind& language_kind();
const Kind& t5_kind();
const std::vector<const Kind*>& all_kinds();
const Kind& kind_of(const Choices&);
const Kind& kind_of_command(const std::string& train);   // "lm train", by which plans name a kind. Throws BadInput
// In the order of config.toml.
const std::vector<Option>& kept_options(const Kind&);
// Throws BadInput: unknown (did you mean), of another kind of runs, or of no run.
const Option& kept_option(const Kind&, const std::string& name);

}  // namespace poslab
