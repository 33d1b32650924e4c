#include "apps/refuse.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/error.h"
#include "core/names.h"
#include "encodings/encoding.h"
#include "experiment/config.h"
#include "experiment/kind.h"
#include "lab/files/shell.h"

namespace poslab {
namespace {

// An option's text in the help.
std::string takes(const CLI::App& command, const std::string& option) {
  const CLI::Option* o = command.get_option_no_throw(option);
  return o ? o->get_type_name() : "one";
}

// "even_pairs" typed alone, or as --even_pairs, is `--task even_pairs`, if the command has that option.
void refuse_bare_name(const std::string& typed, const std::vector<std::string>& options) {
  const bool dashes = typed.starts_with("--");
  const std::string word = dashes ? typed.substr(2) : typed;
  for (const ChoiceOption& of_run : all_choices().options) {
    const Option& o = of_run.option;
    if (o.kind != Option::Kind::word || std::find(options.begin(), options.end(), dashed(o.name)) == options.end())
      continue;
    const std::string first = word.substr(0, word.find(','));  // "rope,alibi", for poslab compare
    if (std::find(o.words.begin(), o.words.end(), first) != o.words.end())
      bad_input("{}\"{}\"{}; use {} {}", dashes ? "unknown option " : "", typed,
                dashes ? "" : " has no option before it", dashed(o.name), word);
  }
}

// The encoding on the command line that has an option of this name: "rerope" of window.
std::string encoding_with(const std::string& option, const CLI::App& command) {
  for (const CLI::Option* typed : command.get_options())
    if (typed->get_name() == "--encoding" || typed->get_name() == "encoding")
      for (const std::string& text : typed->results())
        for (const Scheme& s : all_encodings())
          if (text.substr(0, text.find(':')) == s.name)
            for (const Option& o : s.options)
              if (o.name == option) return s.name;
  return "";
}

// A word that is neither an option nor the value of one: guesses its meaning.
void refuse_word(const std::string& full, const std::vector<std::string>& known, const CLI::App& command,
                 const std::string& full_name) {
  const auto has = [&](const std::string& name) { return std::find(known.begin(), known.end(), name) != known.end(); };
  const size_t equals = full.find('=');
  const std::string word = full.substr(0, equals);
  refuse_bare_name(word, known);
  for (const char* dash : {"\u2014", "\u2013", "\u2212"})  // as editors and chats make of --
    if (word.starts_with(dash))
      bad_input("\"{}\" begins with a typographic dash; type it again with -- in front", word);
  if (equals != std::string::npos && has("--" + word))
    bad_input("\"{}\" has no dashes; use --{} {}", full, word, shell_word(full.substr(equals + 1)));
  for (const auto& [ending, option] : {std::pair{".toml", "--config"}, {".txt", "--text"}})
    if (full.ends_with(ending) && has(option)) bad_input("\"{0}\" has no option before it; use {1} {0}", full, option);
  const CLI::Option* runs = command.get_option_no_throw("runs");
  std::error_code no_path;  // as of a word that is too long to be one
  if (!runs && !command.get_option_no_throw("run") && std::filesystem::exists(full + "/config.toml", no_path))
    bad_input("{} takes no run, and \"{}\" is one; `poslab report` compares runs; eval, ask, view and inspect read one",
              full_name, full);
  if (has("--prompt")) bad_input("\"{}\" has no option before it; use --prompt {}", full, shell_word(full));
  for (const CLI::Option* o : command.get_options())
    if (o->get_positional() && o->get_expected_max() == 1 && std::filesystem::is_directory(full, no_path))
      bad_input("{} takes one {} at a time, and \"{}\" is another; say the command for each", full_name, o->get_name(),
                full);
  bad_input("{} has no use for \"{}\"; see `{} --help`", full_name, word, full_name);
}

// An option of another command, a file or a command: names the place where it belongs.
void refuse_elsewhere(const CLI::App& command, const std::string& full_name, const std::string& word,
                      const std::string& name) {
  if (full_name == "poslab sweep plan") {
    if (word == "-o" || word == "--out")
      bad_input("{} has no {}: it prints the plan; redirect it into a file with > plan.jsonl", full_name, word);
    if (name == "seeds" || all_choices().standard.has(name))
      bad_input("{} has no {}: its file has what varies, as in {} = ...", full_name, word, name);
  }
  if (full_name == "poslab reproduce" && word == "--list")
    bad_input("unknown option \"{}\"; `poslab reproduce` alone lists what there is", word);
  if (!command.get_parent()) return;
  for (const CLI::App* other : commands_in_help(*command.get_parent()))
    if (full_name == "poslab explain" && other->get_name() == "show" && other->get_option_no_throw(word))
      bad_input("{} prints text and has no {}; `poslab show` draws, and has it", full_name, word);
  const bool explains = full_name == "poslab explain" && all_choices().standard.has(name);
  if (explains || (name.starts_with("encoding") && (full_name == "poslab show" || full_name == "poslab check")))
    bad_input("{0} has no {1}: give names without an option, as in `{0} rope`", full_name, word);
  const std::vector<std::string> siblings = commands_of(*command.get_parent());
  if (word.starts_with("--") && std::find(siblings.begin(), siblings.end(), word.substr(2)) != siblings.end())
    bad_input("unknown option \"{0}\"; {1} is a command of its own: see `{2} {1} --help`", word, word.substr(2),
              full_name.substr(0, full_name.rfind(' ')));
}

// "-t": the first option that begins with this letter.
void refuse_letter(const std::string& word, const std::vector<std::string>& known, const std::string& more) {
  if (word.size() != 2) return;
  for (const std::string& option : known)
    if (option.starts_with("--" + word.substr(1)))
      bad_input("unknown option \"{}\"; did you mean \"{}\"?{}", word, option, more);
}

}  // namespace

std::vector<const CLI::App*> commands_in_help(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); });
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* c : commands_in_help(app)) names.push_back(c->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* o : command.get_options([](const CLI::Option* o) { return o->nonpositional(); })) {
    for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : o->get_snames()) names.push_back("-" + name);
  }
  return names;
}

void refuse_unknown(const CLI::App& command, const std::string& full_name) {
  std::vector<std::string> left = command.remaining();
  std::erase(left, "--");  // the words after it are arguments
  if (left.empty()) return;
  for (const CLI::Option* o : command.get_options())  // one that took the next option for its value
    if (!o->empty() && o->results().back().rfind("--", 0) == 0 && o->get_type_name() != "KEY=VALUE")
      bad_input("{} needs a value, but {} comes next; see `{} --help`", o->get_name(), o->results().back(), full_name);
  const std::string word = left.front().substr(0, left.front().find('='));
  const std::vector<std::string> known = options_of(command);
  const auto has = [&](const std::string& name) { return std::find(known.begin(), known.end(), name) != known.end(); };
  if (word.rfind("-", 0) != 0) refuse_word(left.front(), known, command, full_name);
  if (word.rfind("--no-", 0) == 0 && has("--" + word.substr(5)))
    bad_input("unknown option \"{}\"; use --{} off", word, word.substr(5));
  const Kind* kind = &strings_kind();
  for (const Kind* one : all_kinds())
    if (!one->word.empty() && full_name.starts_with("poslab " + one->word)) kind = one;
  const std::vector<ChoiceOption>& all = kind->table().options;
  const bool of_training =
      std::any_of(all.begin(), all.end(), [&](auto& o) { return o.kept && dashed(o.option.name) == word; });
  const bool trains = full_name == "poslab " + kind->command("train") || full_name == "poslab sweep run";
  if (of_training && !trains && has("--device"))
    bad_input(
        "{0} has no {1}: a run keeps the options that it was trained with; train another one with {1}, or see "
        "`{0} --help`",
        full_name, word);
  std::string name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  std::replace(name.begin(), name.end(), '-', '_');
  const CLI::Option* set = command.get_option_no_throw("--set");
  if (set && set->get_type_name() == "KEY=VALUE")
    for (const ChoiceOption& o : all)
      if (o.kept && dashed(o.option.name) == word) {
        const std::string value = left.front() != word                   ? left.front().substr(word.size() + 1)
                                  : left.size() > 1 && left[1][0] != '-' ? left[1]
                                                                         : "VALUE";
        bad_input("{} has no {}; use --set {}={}", full_name, word, name, shell_word(value));
      }
  refuse_elsewhere(command, full_name, word, name);
  if (const std::string owner = encoding_with(name, command); !owner.empty())
    bad_input("unknown option \"{}\"; an encoding has its options after its name, as in {}:{}=VALUE", word, owner,
              name);
  refuse_bare_name(word, known);
  const std::string more = known.size() > 20 ? fmt::format(" See `{} --help`", full_name) : "";
  refuse_letter(word, known, more);
  throw BadInput(unknown("option", word, known, fmt::format("`{} --help`", full_name)));
}

CLI::App* chosen_command(const CLI::App& of, const std::string& full_name) {
  const std::vector<CLI::App*> chosen = of.get_subcommands();
  if (chosen.empty()) {
    const std::vector<std::string> left = of.remaining(), names = commands_of(of);
    if (!left.empty() && left.front().rfind("-", 0) == 0) {
      const std::string option = left.front().substr(0, left.front().find('='));
      const std::vector<std::string> own = options_of(of);
      for (const CLI::App* c : commands_in_help(of))
        if (const auto its = options_of(*c); std::find(own.begin(), own.end(), option) == own.end() &&
                                             std::find(its.begin(), its.end(), option) != its.end())
          bad_input("{} comes before the command; put it after, as in `{} {} {}`", option, full_name,
                    c->get_name(), option);
      throw BadInput(unknown("option", left.front(), own));
    }
    if (!left.empty()) {
      const std::string& word = left.front();
      const auto is_command = [&](const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
      };
      if (is_command(word.substr(0, word.find(' '))))
        bad_input("\"{}\" is one word because of the quotes; write {} {} without them", word, full_name, word);
      for (const auto& [ending, command] : {std::pair{".toml", "plan"}, {".jsonl", "run"}})
        if (word.ends_with(ending) && is_command(command))
          bad_input("unknown command \"{1}\"; use {0} {2} {1}", full_name, shell_word(word), command);
      if (const CLI::App* program = of.get_parent())
        if (const auto above = commands_of(*program); std::find(above.begin(), above.end(), word) != above.end())
          bad_input("{0} has no {1}, which is a command of its own; see `{2} {1} --help`. Commands of {0} are {3}",
                    full_name, word, full_name.substr(0, full_name.rfind(' ')), fmt::join(names, ", "));
      throw BadInput(unknown("command", word, names));
    }
    bad_input("which command? One of {}; `{} --help` explains them", fmt::join(names, ", "), full_name);
  }
  refuse_unknown(of, full_name);
  if (commands_in_help(*chosen.front()).empty())  // one with commands of its own asks again
    refuse_unknown(*chosen.front(), full_name + " " + chosen.front()->get_name());
  return chosen.front();
}

void refuse(const CLI::ParseError& error, const CLI::App& app) {
  std::string name = "poslab";
  const CLI::App* command = &app;
  for (; !command->get_subcommands().empty(); name += " " + command->get_name())
    refuse_unknown(*command, name), command = command->get_subcommands().front();
  if (!dynamic_cast<const CLI::ArgumentMismatch*>(&error)) refuse_unknown(*command, name);
  for (const CLI::Option* o : command->get_options())
    if (o->get_required() && o->count() == 0 && dynamic_cast<const CLI::RequiredError*>(&error))
      bad_input("{} needs {}, {}; see `{} --help`", name, o->get_name(), o->get_description(), name);
  const std::string what = error.what(), option = what.substr(0, what.find(':'));
  for (const CLI::Option* o : command->get_options())
    if (const std::vector<std::string>& words = o->results();
        dynamic_cast<const CLI::ArgumentMismatch*>(&error) && o->get_name() == option && words.size() > 1)
      bad_input("{} is given {}: {}; give it once", option,
                words.size() == 2 ? "twice" : fmt::format("{} times", words.size()), fmt::join(words, " and "));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) && option.rfind("-", 0) == 0)
    bad_input("{} has no value; it takes {}; see `{} --help`", option, takes(*command, option), name);
  bad_input("{}; see `{} --help`", what, name);
}

void refuse_empty(const CLI::App& command, const std::string& full_name) {
  for (const CLI::Option* o : command.get_options()) {
    const std::string takes = o->get_type_name(), type = takes.substr(0, takes.find(' ')), name = o->get_name();
    const char* what = type == "FILE"       ? "file"
                       : type == "FOLDER"   ? "folder"
                       : type == "PATH"     ? "file or folder"
                       : name == "--name" ? "test or trial"
                                          : nullptr;
    if (what && o->count() && o->results().back().empty())
      bad_input("{} \"\" names no {}; name one, or see `{} --help`", name, what, full_name);
  }
}

void print_help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  std::string name = "poslab";
  for (const std::string& word : words) {
    const std::vector<std::string> known = commands_of(*command);
    if (known.empty()) bad_input("{0} has no commands of its own, so no \"{1}\"; use `{0} --help`", name, word);
    if (std::find(known.begin(), known.end(), word) == known.end()) throw BadInput(unknown("command", word, known));
    name += " " + word, command = command->get_subcommand(word);
  }
  fmt::print("{}", command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal));
}

}  // namespace poslab
