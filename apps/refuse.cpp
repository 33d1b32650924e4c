#include "apps/refuse.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "core/names.h"
#include "encodings/encoding.h"
#include "experiment/config.h"
#include "experiment/kind.h"

namespace poslab {
namespace {

// "even_pairs" typed alone is `--task even_pairs`, if the command has that option.
void refuse_bare_name(const std::string& word, const CLI::App& command) {
  const std::string first = word.substr(0, word.find(','));  // "rope,alibi", for poslab compare
  for (const ChoiceOption& of_run : all_choices().options) {
    const Option& o = of_run.option;
    if (o.kind == Option::Kind::word && command.get_option_no_throw(dashed(o.name)) &&
        std::find(o.words.begin(), o.words.end(), first) != o.words.end())
      bad_input("\"{0}\" has no option before it; use {1} {0}", word, dashed(o.name));
  }
}

// The encoding on the command line that has an option of this name: "rerope" for window.
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

// "--set seed = 3", "--lr = 3"
void refuse_apart(const CLI::App& command, const std::vector<std::string>& left) {
  const std::string next = left[0].starts_with("=") && left[0].size() > 1 ? left[0].substr(1) : left.back();
  for (const CLI::Option* o : command.get_options()) {
    if (o->empty() || !o->nonpositional()) continue;
    const std::string last = o->results().back(), name = o->get_name();
    if (last == "=") bad_input("{0} = {1}: write {0} {1}, without =", name, left[0]);
    const bool key = o->get_type_name() == "KEY=VALUE";
    if (key && (last.ends_with("=") || (last.find('=') == last.npos && left[0].starts_with("="))))
      bad_input("{0} takes one KEY=VALUE; write {0} {1}={2}, without spaces", name, last.substr(0, last.find('=')),
                next);
  }
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
  if (!left.empty()) refuse_apart(command, left);
  std::erase(left, "--");  // the words after it are arguments
  if (left.empty()) return;
  for (const CLI::Option* o : command.get_options())  // an option that took the next option for its value
    if (!o->empty() && o->results().back().rfind("--", 0) == 0 && o->get_type_name() != "KEY=VALUE")
      bad_input("{} needs a value, but {} comes next; see `{} --help`", o->get_name(), o->results().back(), full_name);
  const std::string word = left.front().substr(0, left.front().find('='));
  refuse_bare_name(word, command);
  if (!word.starts_with("-")) bad_input("{0} has no use for \"{1}\"; see `{0} --help`", full_name, word);
  const Kind* kind = &strings_kind();
  for (const Kind* one : all_kinds())
    if (!one->word.empty() && full_name.starts_with("poslab " + one->word)) kind = one;
  const std::vector<ChoiceOption>& all = kind->table().options;
  const bool of_training =
      std::any_of(all.begin(), all.end(), [&](auto& o) { return o.kept && dashed(o.option.name) == word; });
  const bool trains = full_name == "poslab " + kind->command("train") || full_name == "poslab sweep run";
  if (of_training && !trains && command.get_option_no_throw("--device"))
    bad_input(
        "{0} has no {1}: a run keeps the options that it was trained with; train another one with {1}, or see "
        "`{0} --help`",
        full_name, word);
  std::string name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  std::replace(name.begin(), name.end(), '-', '_');
  const CLI::Option* set = command.get_option_no_throw("--set");
  if (set && set->get_type_name() == "KEY=VALUE")
    for (const ChoiceOption& o : all)
      if (o.kept && dashed(o.option.name) == word)
        bad_input("{} has no {}; use --set {}=VALUE", full_name, word, name);
  if (const std::string owner = encoding_with(name, command); !owner.empty())
    bad_input("unknown option \"{}\"; an encoding has its options after its name, as in {}:{}=VALUE", word, owner,
              name);
  throw BadInput(unknown("option", word, options_of(command), fmt::format("`{} --help`", full_name)));
}

CLI::App* chosen_command(const CLI::App& of, const std::string& full_name) {
  const std::vector<CLI::App*> chosen = of.get_subcommands();
  if (chosen.empty()) {
    const std::vector<std::string> left = of.remaining(), names = commands_of(of);
    if (!left.empty() && left.front().starts_with('-')) {
      const std::string option = left.front().substr(0, left.front().find('='));
      const std::vector<std::string> own = options_of(of);
      for (const CLI::App* c : commands_in_help(of))
        if (const auto its = options_of(*c); std::find(own.begin(), own.end(), option) == own.end() &&
                                             std::find(its.begin(), its.end(), option) != its.end())
          bad_input("{} comes before the command; put it after, as in `{} {} {}`", option, full_name,
                    c->get_name(), option);
      throw BadInput(unknown("option", left.front(), own));
    }
    if (!left.empty()) throw BadInput(unknown("command", left.front(), names));
    bad_input("which command? One of {}; `{} --help` explains them", fmt::join(names, ", "), full_name);
  }
  refuse_unknown(of, full_name);
  if (commands_in_help(*chosen.front()).empty())  // a command with its own commands refuses them itself
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
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) && option.starts_with("-"))
    bad_input("{} has no value; it takes {}; see `{} --help`", option, command->get_option(option)->get_type_name(),
              name);
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
