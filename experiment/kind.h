// The kinds of run: strings of a task, a text, questions about a long context, strings that are answered token by
// token. Code in higher folders never distinguishes kinds. A kind is one file and one name in the list.
#pragma once
#include <memory>

#include "experiment/footprint.h"
#include "experiment/results.h"

namespace poslab {

namespace language { struct Source; }
class Learner;

struct Kind {
  std::string name;                    // "strings"
  std::string word;                    // prefix of the names of its commands: "", "lm " or "t5 "
  std::string summary = {};            // help of these commands, unless they have their own (apps/)
  std::string studied;                 // the option that names the learned task
  std::string marked_by;               // an option that only this kind has: it marks the runs of the kind
  std::string last_file;               // the file that a run writes last, when it is complete
  std::string format;                  // format of its checkpoints; changes when older ones become unreadable
  std::string checkpoints_are_read;    // "a T5; `poslab t5` reads", for users who confuse kinds
  std::vector<std::string> tested;     // options that its eval can change, in their order in the name of a test
  const ChoiceTable& (*table)();
  Choices (*configure)(const Settings&);   // throws BadInput
  void (*check)(const RunSpec&);           // throws BadInput if the choices do not fit together
  int (*longest)(const Choices&);          // slots of the longest sequence, in training or at test
  std::vector<int> (*tested_lengths)(const Choices&);   // lengths of a test's rows, in order
  // text: for runs whose options name one; absent for others
  std::unique_ptr<Learner> (*make)(const RunSpec&, const std::shared_ptr<const language::Source>& text);

  Columns columns;                         // of a test
  std::vector<std::string> collected;      // columns for tables of sweeps, in order
  // The summary of a test in a few numbers, for tables of sweeps; NaN: not available.
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
const Kind& kind_of_command(const std::string& train);   // "lm train", a kind's name in plans; throws BadInput
// The kept options, in the order of config.toml.
const std::vector<Option>& kept_options(const Kind&);
// Throws BadInput for an unknown name (did you mean), and for an option of another kind of run, or of none.
const Option& kept_option(const Kind&, const std::string& name);

}  // namespace poslab
