#include "apps/refuse.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "core/names.h"
#include "experiment/config.h"

namespace poslab {
namespace {

// What stands in the help beside an option.
std::string takes(const CLI::App& command, const std::string& option) {
  const CLI::Option* o = command.get_option_no_throw(option);
  return o ? o->get_type_name() : "one";
}

// "even_pairs" typed alone is `--task even_pairs`, if the command has that option.
void refuse_bare_name(const std::string& word, const std::vector<std::string>& options) {
  for (const ChoiceOption& of_run : all_choices().options) {
    const Option& o = of_run.option;
    if (o.kind != Option::Kind::word || std::find(options.begin(), options.end(), dashed(o.name)) == options.end())
      continue;
    if (std::find(o.words.begin(), o.words.end(), word) != o.words.end())
      bad_input("\"{0}\" stands alone; say {1} {0}", word, dashed(o.name));
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
  std::erase(left, "--");   // what stands behind it has been taken as words
  if (left.empty()) return;
  for (const CLI::Option* o : command.get_options())  // one that took the next option for its value
    if (!o->empty() && o->results().back().rfind("--", 0) == 0 && o->get_type_name() != "KEY=VALUE")
      bad_input("{} has no value, as {} comes next; see `{} --help`", o->get_name(), o->results().back(), full_name);
  const std::string word = left.front().substr(0, left.front().find('='));
  const std::vector<std::string> known = options_of(command);
  const auto has = [&](const std::string& name) { return std::find(known.begin(), known.end(), name) != known.end(); };
  if (word.rfind("-", 0) != 0) {
    refuse_bare_name(word, known);
    bad_input("{} has no use for \"{}\"; see `{} --help`", full_name, word, full_name);
  }
  if (word.rfind("--no-", 0) == 0 && has("--" + word.substr(5)))
    bad_input("unknown option \"{}\"; say --{} off", word, word.substr(5));
  const std::vector<ChoiceOption>& all = all_choices().options;
  const bool of_training =
      std::any_of(all.begin(), all.end(), [&](auto& o) { return o.kept && dashed(o.option.name) == word; });
  if (of_training && full_name != "poslab train" && full_name != "poslab sweep run" && has("--device"))
    bad_input(
        "{0} has no {1}: a run keeps the options that it was trained with; train another one with {1}, or see "
        "`{0} --help`",
        full_name, word);
  throw BadInput(unknown("option", word, known) +
                 (known.size() > 20 ? fmt::format(" See `{} --help`", full_name) : ""));
}

CLI::App* chosen_command(const CLI::App& of, const std::string& full_name) {
  const std::vector<CLI::App*> chosen = of.get_subcommands();
  if (chosen.empty()) {
    const std::vector<std::string> left = of.remaining(), names = commands_of(of);
    if (!left.empty() && left.front().rfind("-", 0) == 0)
      throw BadInput(unknown("option", left.front(), options_of(of)));
    if (!left.empty()) throw BadInput(unknown("command", left.front(), names));
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
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) && option.rfind("-", 0) == 0)
    bad_input("{} has no value; it takes {}; see `{} --help`", option, takes(*command, option), name);
  bad_input("{}; see `{} --help`", what, name);
}

void print_help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  std::string name = "poslab";
  for (const std::string& word : words) {
    const std::vector<std::string> known = commands_of(*command);
    if (known.empty()) bad_input("{0} has no commands of its own, so no \"{1}\"; say `{0} --help`", name, word);
    if (std::find(known.begin(), known.end(), word) == known.end()) throw BadInput(unknown("command", word, known));
    name += " " + word, command = command->get_subcommand(word);
  }
  fmt::print("{}", command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal));
}

}  // namespace poslab
