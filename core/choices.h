// One idiom for every list of things to choose from (schemes, samplers, tasks, ...): each has a name, a summary, a
// source and options of its own, declared at its definition. The thing and its options are spelled in the same
// way on the command line, in TOML files and on pages:
//
//   alibi   alibi:symmetric   relative:mode=released   randomized:max_position=4096,unsorted   rerope:window=0.5L
#pragma once
#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/names.h"

namespace poslab {

struct Range { double min, max; };   // both included
struct Lengths { int from, to; };    // both included; written 1:100
using Settings = std::vector<std::pair<std::string, std::string>>;   // name and text

// One option of a thing.
struct Option {
  //   toggle  on or off        word    one of `words`          whole, number    3   2.5; whole also takes its `words`
  //   wholes, numbers          lists: 1/2/8   1/2.5/8
  //   length  a whole number, or a share of the trained length: 0.5L           lengths          a range: 1:100
  enum class Kind { toggle, word, whole, number, wholes, numbers, length, lengths };
  Option(std::string name, bool standard, std::string help);
  Option(std::string name, std::vector<std::string> words, std::string help);   // the first word is the default
  Option(std::string name, int standard, Range, std::string help);
  Option(std::string name, double standard, Range, std::string help);
  static Option wholes(std::string name, std::string standard, Range of_each, std::string help);
  static Option numbers(std::string name, std::string standard, Range of_each, std::string help);
  static Option length(std::string name, std::string standard, Range, std::string help);
  static Option lengths(std::string name, std::string standard, Range of_both, std::string help);
  static Option text(std::string name, std::string standard, std::string help);   // takes any text
  // deleted: a char pointer would become a bool
  Option(std::string name, const char* standard, std::string help) = delete;

  std::string name, standard, help;      // standard: the text of the default
  Kind kind;
  std::vector<std::string> words = {};   // empty: any text is accepted; Kind::whole also accepts these words
  Range range = {0, 0};
  // For an option whose words name things that have options of their own: splits a text such as
  // "randomized:max_position=4096" into the settings of this option and of the others. Throws BadInput. Null: a text
  // sets this option alone.
  Settings (*sets)(const std::string& text) = nullptr;
  // For an option whose value is of a type of its own: parses the text, for RunSpec::value (experiment/run_spec.h).
  // Throws BadInput. Null for all others.
  std::any (*read)(const std::string& text) = nullptr;
  bool is_word(const std::string& text) const;
  std::string takes() const;                      // "on | off", "paper | released", "1 .. 16777216"
  std::string value(const std::string& text) const;   // in canonical form. Throws BadInput for other text
  Settings settings(const std::string& text) const;   // returns sets(text), or this option with its value
};

bool is_share(const std::string& length);        // "0.5L"
// The share `length` of `whole`, rounded down: "0.5L" of 41 is 20.
int64_t share_of(const std::string& length, int64_t whole);

// The value of `text`, given for the option `name`. Each throws BadInput with name, text and Option::takes().
bool read_toggle(const std::string& name, const std::string& text);
int64_t read_whole(const std::string& name, const std::string& text, Range, const std::string& takes);
double read_number(const std::string& name, const std::string& text, Range, const std::string& takes);
// Text that reads back as the same number, without the + of an exponent ("1e16"): a + separates groups of heads.
std::string spelled(double);
std::string to_string(Range);   // "1 .. 16777216"

// A text such as "alibi:mode=differences,symmetric", in parts. An option without a value is "on".
struct Spelling {
  std::string name;
  Settings settings;
};
Spelling read_spelling(const std::string& text);   // throws BadInput for any other text

// The parts of a composition such as "rope|none", without the separators. The + of 1e+16 separates nothing.
std::vector<std::string> split(const std::string& text, char separator);

// The options of a thing, each with a value.
class Choices {
 public:
  Choices() = default;                                               // for a thing without options
  Choices(std::string owner, const std::vector<Option>& options);    // all at their defaults
  // Sets the option. Returns the settings that result: one, or several if Option::sets splits the text. Throws BadInput
  // for an option that the owner lacks (did you mean), and for a value that the option does not accept.
  Settings set(const std::string& option, const std::string& text);
  const std::string& operator[](const std::string& option) const;    // throws Failure if not declared
  bool on(const std::string& option) const { return (*this)[option] == "on"; }
  int whole(const std::string& option) const;   // throws BadInput for a share, as number() does
  int64_t count(const std::string& option) const;   // a whole number that may be larger than an int
  Lengths lengths(const std::string& option) const;
  double number(const std::string& option) const;
  std::vector<int> wholes(const std::string& option) const;
  std::vector<double> numbers(const std::string& option) const;
  bool has(const std::string& option) const;
  const std::vector<Option>& options() const { return *options_; }
  // "alibi:symmetric": the name, all options that are lengths, and any other options that are not at their defaults
  std::string spelled() const;

 private:
  const std::string& no_share(const std::string& option) const;
  size_t place(const std::string& option) const;                     // an index, options().size() if not found
  std::string owner_;
  std::shared_ptr<const std::vector<Option>> options_ = std::make_shared<const std::vector<Option>>();
  std::vector<std::string> values_;
};

// An entry of a list, with its options chosen.
template <class Thing>
struct Chosen {
  Thing thing{};
  Choices choices{};
  const Thing* operator->() const { return &thing; }
  std::string spelled() const { return choices.spelled().empty() ? thing.name : choices.spelled(); }
};

template <class List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& one : list) names.push_back(one.name);
  return names;
}

// Throws BadInput with did-you-mean: `unknown encoding "ropo"; did you mean "rope"? Known: ...`
template <class Thing>
const Thing& find(const char* kind, const std::vector<Thing>& list, const std::string& name) {
  for (const Thing& one : list)
    if (one.name == name) return one;
  raise<BadInput>(unknown(kind, name, names_of(list)));
}

using RunValues = std::map<std::string, std::string>;   // a run's options, used where a spelling sets none
RunValues trained_on(int64_t slots);                     // only the trained length, so that 0.5L becomes a number

// All options of a thing, with values from the spelling, else from `run`, else the defaults. If `run` has a trained
// length, shares become numbers. Throws BadInput.
Choices choose_options(const std::string& owner, const std::vector<Option>&, const Spelling&, const RunValues& run);
template <class Thing>
Chosen<Thing> choose(const char* kind, const std::vector<Thing>& list, const std::string& text,
                     const RunValues& run = {}) {
  const Spelling spelling = read_spelling(text);
  const Thing& thing = find(kind, list, spelling.name);
  return {thing, choose_options(thing.name, thing.options, spelling, run)};
}

}  // namespace poslab
