#include "apps/refuse.h"

#include "core/error.h"
#include "core/names.h"

namespace poslab {

void refuse_unknown(const CLI::App& command, const std::string& full_name) {
  std::vector<std::string> left = command.remaining();
  std::erase(left, "--");   // what stands behind it has been taken as words
  if (left.empty()) return;
  const std::string word = left.front().substr(0, left.front().find('='));
  if (word.rfind("-", 0) != 0) bad_input("{} has no use for \"{}\"; see `{} --help`", full_name, word, full_name);
  std::vector<std::string> names;
  for (const CLI::Option* o : command.get_options([](const CLI::Option* o) { return o->nonpositional(); }))
    names.push_back("--" + o->get_single_name());
  throw BadInput(unknown("option", word, names));
}

CLI::App* chosen_command(const CLI::App& of, const std::string& full_name) {
  const auto any = [](const CLI::App*) { return true; };
  const std::vector<CLI::App*> chosen = of.get_subcommands();
  if (chosen.empty()) {
    std::vector<std::string> names;
    for (const CLI::App* c : of.get_subcommands(any)) names.push_back(c->get_name());
    if (!of.remaining().empty()) throw BadInput(unknown("command", of.remaining().front(), names));
    return nullptr;
  }
  refuse_unknown(of, full_name);
  if (chosen.front()->get_subcommands(any).empty())  // one with commands of its own asks again
    refuse_unknown(*chosen.front(), full_name + " " + chosen.front()->get_name());
  return chosen.front();
}

}  // namespace poslab
