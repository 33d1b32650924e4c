// The kinds of run: strings of a task, a text, questions about a long context, strings that are answered token by
// token. Code above calls a kind without asking which one it is. A kind is one file and one name in the list.
#pragma once
#include <memory>

#include "experiment/footprint.h"
#include "experiment/results.h"

namespace poslab {

namespace language { struct Source; }
class Learner;

struct Kind {
  std::string name;                    // "strings"
  std::string word;                    // before the names of its commands: "", "lm " or "t5 "
  std::string summary = {};            // of these commands, where they have no help of their own (apps/)
  std::string studied;                 // the option that names the learned task
  std::string marked_by;               // an option of this kind alone, which identifies its runs
  std::string last_file;               // a run that has it is complete
  std::string format;                  // of checkpoints. It changes when an older one can no longer be read
  std::string checkpoints_are_read;    // "a T5; `poslab t5` reads", for users who take one for another kind
  std::string report;                  // whose sections a page of its runs has (lab/pages/report): "tasks", "language"
  std::vector<std::string> tested;     // options that its eval can change, in the order in which they name a test
  const ChoiceTable& (*table)();
  Choices (*configure)(const Settings&);   // throws BadInput
  void (*check)(const RunSpec&);           // throws BadInput if the choices do not fit together
  int (*longest)(const Choices&);          // slots of the longest sequence, in training or at test
  std::vector<int> (*tested_lengths)(const Choices&);   // of the rows of a test, in their order
  // text: read by runs whose options name one; absent for others
  std::unique_ptr<Learner> (*make)(const RunSpec&, std::shared_ptr<const language::Source> text);

  Columns columns;                         // of a test
  std::vector<std::string> collected;      // shown in tables of sweeps, in their order
  // The summary of a test in a few numbers, for tables of sweeps; NaN: it has none.
  Columns score_columns;
  Row (*scores)(const Choices&, const Results&);
  std::string (*shown)(const Choices&, const Results&);   // a table for a terminal
  Load (*load)(const RunSpec&);            // memory and time of a run, from its options alone

  bool operator==(const Kind& other) const { return name == other.name; }
  std::string command(const std::string& verb) const { return word + verb; }   // "lm train"
};

const Kind& strings_kind();
const Kind& language_kind();
const Kind& t5_kind();
const Kind& answering_kind();
const std::vector<const Kind*>& all_kinds();
const Kind& kind_of(const Choices&);
const Kind& kind_of_command(const std::string& train);   // "lm train", a kind's name in plans. Throws BadInput
// In the order of config.toml.
const std::vector<Option>& kept_options(const Kind&);
// By its name, or the one that it had. Throws BadInput: unknown (did you mean), of another kind of runs, or of no run.
const Option& kept_option(const Kind&, const std::string& name);

}  // namespace poslab
