#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "apps/all_commands.h"
#include "apps/explain.h"
#include "apps/refuse.h"
#include "core/error.h"
#include "core/names.h"
#include "experiment/config.h"

namespace poslab {
extern const std::string_view poslab_bash, poslab_zsh, poslab_fish;  // apps/completion/
namespace {

using WordList = std::vector<std::string>;

// The choices of "tiny | example | paper (tiny)"; none for other texts.
WordList choices_in(const std::string& text) {
  WordList words = split(text.substr(0, text.find("  (")), '|');
  const auto no_word = [](const std::string& w) { return w.empty() || w.find(' ') != std::string::npos; };
  return words.size() < 2 || std::any_of(words.begin(), words.end(), no_word) ? WordList() : words;
}

// The values of an option or an argument: names; none for a number or a file.
WordList values_of(const CLI::Option& o) {
  WordList choices = choices_in(o.nonpositional() ? o.get_type_name() : o.get_description());
  if (!choices.empty()) return choices;
  for (const std::string& name : o.get_lnames())
    for (const ChoiceOption& run : all_choices().options)
      if (run.option.kind == Option::Kind::word && dashed(run.option.name) == "--" + name) return run.option.words;
  return {};
}

// A candidate, an option or a command, and its help text.
struct Candidate {
  std::string word, help;
};
using Candidates = std::vector<Candidate>;

void add(Candidates& all, const WordList& words) {
  for (const std::string& word : words) all.push_back({word, ""});
}

// The options of a command, as typed.
Candidates options_in_help(const CLI::App& command) {
  Candidates all;
  for (const std::string& name : options_of(command))
    all.push_back({name, command.get_option(name)->get_description()});
  return all;
}

// The possible words after `words`, including the beginnings of words; none for a file or a number.
Candidates after(const WordList& words, const CLI::App& program, bool option) {
  const CLI::App* command = &program;
  for (const std::string& word : words)
    for (const CLI::App* c : commands_in_help(*command))
      if (c->get_name() == word) {
        command = c;
        break;
      }
  const std::string& name = command->get_name();
  const std::string last = words.empty() ? "" : words.back();
  Candidates all;
  const CLI::Option* before = command->get_option_no_throw(last);
  if (before && before->nonpositional() && before->get_items_expected_max()) {
    add(all, values_of(*before));
    return all;
  }
  const bool explains = name == "list" || name == "explain";
  for (const ExplainedKind& kind : explained_kinds())
    if (explains && (last == kind.name || last == kind.name + "s")) add(all, kind.names());
  if (!all.empty()) return all;
  if (option) return options_in_help(*command);
  for (const CLI::App* c : commands_in_help(name == "help" ? program : *command))
    all.push_back({c->get_name(), c->get_description()});
  const auto arguments = command->get_options([](const CLI::Option* o) { return o->get_positional(); });
  for (const CLI::Option* o : arguments) add(all, values_of(*o));
  if (name == "explain")  // a name without its kind is allowed
    for (const ExplainedKind& kind : explained_kinds()) add(all, kind.names());
  return all.empty() && arguments.empty() ? options_in_help(*command) : all;
}

}  // namespace

std::function<void()> add_completion(CLI::App* completion) {
  const auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "bash | zsh | fish")->required();
  return [shell] {
    for (const auto& [name, script] : {std::pair{"bash", poslab_bash}, {"zsh", poslab_zsh}, {"fish", poslab_fish}})
      if (*shell == name) return fmt::print("{}", script);
    throw BadInput(unknown("shell", *shell, {"bash", "zsh", "fish"}));
  };
}

void complete(std::vector<std::string> words, const CLI::App& program) {
  const std::string begun = words.empty() ? "" : words.back();
  if (!words.empty()) words.pop_back();
  std::set<std::string> printed;
  for (const Candidate& c : after(words, program, begun.starts_with('-')))
    if (c.word.starts_with(begun) && printed.insert(c.word).second)
      fmt::print("{}{}{}\n", c.word, c.help.empty() ? "" : "\t", c.help);
}

}  // namespace poslab
