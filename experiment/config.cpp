#include "experiment/config.h"

namespace poslab {

const ChoiceOption& choice_option(const std::string& name) {
  std::vector<std::string> known;
  for (const ChoiceOption& o : all_choices().options) {
    if (o.option.name == name) return o;
    known.push_back(o.option.name);
  }
  raise<BadInput>(unknown("option", name, known, "`poslab train --help`"));
}

const Option& option(const std::string& name) { return choice_option(name).option; }

Choices configure(const Settings& settings) {
  for (const auto& [name, text] : settings) option(name);
  return configure(all_choices(), settings);
}

Settings of_new_run(Settings settings) {
  settings.insert(settings.begin(), {"products", engine_names[int(usual_engine())]});   // what is said later counts
  return settings;
}

}  // namespace poslab
