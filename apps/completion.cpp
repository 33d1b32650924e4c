#include "apps/completion.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "apps/explain.h"
#include "apps/refuse.h"
#include "core/error.h"
#include "core/names.h"
#include "experiment/config.h"
#include "lab/files/shell.h"

namespace poslab {
namespace {

using WordList = std::vector<std::string>;

// The choices of "tiny | example | paper  (tiny)"; none if it is no such list.
WordList choices_in(const std::string& text) {
  WordList words = split(text.substr(0, text.find("  (")), '|');
  const auto no_word = [](const std::string& w) { return w.empty() || w.find(' ') != std::string::npos; };
  return words.size() < 2 || std::any_of(words.begin(), words.end(), no_word) ? WordList() : words;
}

// What may follow an option or stand as an argument: names, or nothing if it is a number or a file.
WordList values_of(const CLI::Option& o) {
  const WordList choices = choices_in(o.nonpositional() ? o.get_type_name() : o.get_description());
  if (!choices.empty()) return choices;
  for (const std::string& name : o.get_lnames())
    for (const ChoiceOption& run : all_choices().options)
      if (run.option.kind == Option::Kind::word && dashed(run.option.name) == "--" + name) return run.option.words;
  return {};
}

bool takes_value(const CLI::Option& o) { return o.get_items_expected_max() > 0; }

// A command of the program, by its words: "sweep run"; the program itself has none.
struct Command {
  std::string path;
  const CLI::App* app;
};
void collect(const std::string& path, const CLI::App& app, std::vector<Command>& all) {
  all.push_back({path, &app});
  for (const CLI::App* c : commands_in_help(app))
    collect(path.empty() ? c->get_name() : path + " " + c->get_name(), *c, all);
}

std::string joined(const WordList& words) { return fmt::format("{}", fmt::join(words, " ")); }

WordList arguments_of(const Command& c, const CLI::App& program) {
  if (c.path == "help") return commands_of(program);
  WordList words = commands_of(*c.app);
  for (const CLI::Option* o : c.app->get_options([](const CLI::Option* o) { return o->get_positional(); }))
    for (const std::string& value : values_of(*o)) words.push_back(value);
  if (c.path == "explain")   // a name may stand alone
    for (const ExplainedKind& kind : explained_kinds())
      for (const std::string& name : kind.names())
        if (std::find(words.begin(), words.end(), name) == words.end()) words.push_back(name);
  return words;
}

std::string bash(const std::vector<Command>& all, const CLI::App& program) {
  std::string paths, values, words;
  for (const Command& c : all) {
    if (!c.path.empty()) paths += (paths.empty() ? "" : "|") + shell_word(c.path);
    for (const CLI::Option* o : c.app->get_options([](const CLI::Option* o) { return o->nonpositional(); })) {
      if (!takes_value(*o)) continue;
      WordList names;
      for (const std::string& name : o->get_lnames()) names.push_back(shell_word(c.path + " --" + name));
      for (const std::string& name : o->get_snames()) names.push_back(shell_word(c.path + " -" + name));
      values += fmt::format("    {}) words={} ;;\n", fmt::join(names, " | "), shell_word(joined(values_of(*o))));
    }
    if (c.path == "list" || c.path == "explain")
      for (const ExplainedKind& kind : explained_kinds())
        values += fmt::format("    '{0} {1}' | '{0} {1}s') words={2} ;;\n", c.path, kind.name,
                              shell_word(joined(kind.names())));
    const WordList options = options_of(*c.app);
    WordList arguments = arguments_of(c, program);
    if (arguments.empty() && c.app->get_options([](const CLI::Option* o) { return o->get_positional(); }).empty())
      arguments = options;  // a command that takes nothing else
    words += fmt::format("    {}) words={} options={} ;;\n", shell_word(c.path), shell_word(joined(arguments)),
                         shell_word(joined(options)));
  }
  return fmt::format(R"(# Completion of poslab for bash:  source <(poslab completion bash)
_poslab() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} command='' next words='' options='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="${{command:+$command }}${{COMP_WORDS[i]}}"
    case $next in {}) command=$next ;; esac
  done
  COMPREPLY=()
  case "$command $prev" in
{}    *)
  case $command in
{}  esac
  [[ $cur != -* ]] || words=$options ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ $words ]] || COMPREPLY=($(compgen -f -- "$cur"))
}}
complete -o filenames -o bashdefault -F _poslab poslab
)",
                     paths, values, words);
}

std::string zsh(const std::vector<Command>& all, const CLI::App& program) {
  return "#compdef poslab\n# Completion of poslab for zsh:  source <(poslab completion zsh), or as _poslab in $fpath\n"
         "autoload -Uz +X compinit bashcompinit\n(( ${+functions[compdef]} )) || compinit -i\nbashcompinit\n" +
         bash(all, program) +
         "# In $fpath this file is run when somebody first asks, and has to answer.\n"
         "[[ ${funcstack[1]} != _poslab ]] || _bash_complete -o filenames -o bashdefault -F _poslab\n";
}

std::string fish(const std::vector<Command>& all, const CLI::App& program) {
  std::string text = "# Completion of poslab for fish:  poslab completion fish | source\ncomplete -c poslab -e\n";
  for (const Command& c : all) {
    std::string when = "__fish_use_subcommand";
    if (!c.path.empty()) {
      when.clear();
      for (const std::string& word : split(c.path, ' '))
        when += (when.empty() ? "" : "; and ") + fmt::format("__fish_seen_subcommand_from {}", word);
    }
    const auto below = commands_in_help(*c.app);
    if (!c.path.empty() && !below.empty())
      when += fmt::format("; and not __fish_seen_subcommand_from {}", joined(commands_of(*c.app)));
    const std::string start = fmt::format("complete -c poslab -n {}", shell_word(when));
    for (const CLI::App* b : below)
      text += fmt::format("{} -f -a {} -d {}\n", start, b->get_name(), shell_word(b->get_description()));
    if (c.path == "list" || c.path == "explain")
      for (const ExplainedKind& kind : explained_kinds()) {
        const std::string of_kind = fmt::format("{0}; and __fish_seen_subcommand_from {1} {1}s", when, kind.name);
        text +=
            fmt::format("complete -c poslab -n {} -f -a {}\n", shell_word(of_kind), shell_word(joined(kind.names())));
      }
    if (const WordList words = arguments_of(c, program); below.empty() && !words.empty())
      text += fmt::format("{} -f -a {}\n", start, shell_word(joined(words)));
    for (const CLI::Option* o : c.app->get_options([](const CLI::Option* o) { return o->nonpositional(); })) {
      std::string line = start;
      for (const std::string& name : o->get_lnames()) line += " -l " + name;
      for (const std::string& name : o->get_snames()) line += " -s " + name;
      const WordList values = values_of(*o);
      if (takes_value(*o)) line += values.empty() ? " -r" : " -x -a " + shell_word(joined(values));
      text += line + " -d " + shell_word(o->get_description()) + "\n";
    }
  }
  return text;
}

const char* completion_footer = R"(
Examples:
  source <(poslab completion bash)           # in ~/.bashrc
  source <(poslab completion zsh)            # in ~/.zshrc
  poslab completion fish | source            # in ~/.config/fish/config.fish)";

}  // namespace

std::function<void()> add_completion(CLI::App* completion, const CLI::App& program) {
  const auto shell = std::make_shared<std::string>();
  completion->footer(completion_footer);
  completion->add_option("shell", *shell, "bash | zsh | fish")->required();
  return [shell, &program] {
    std::vector<Command> all;
    collect("", program, all);
    if (*shell == "bash")
      fmt::print("{}", bash(all, program));
    else if (*shell == "zsh")
      fmt::print("{}", zsh(all, program));
    else if (*shell == "fish")
      fmt::print("{}", fish(all, program));
    else
      throw BadInput(unknown("shell", *shell, {"bash", "zsh", "fish"}));
  };
}

}  // namespace poslab
