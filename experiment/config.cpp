#include "experiment/config.h"

#include <algorithm>

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
  const std::string name = "products";
  if (std::none_of(settings.begin(), settings.end(), [&](const auto& s) { return s.first == name; }))
    settings.emplace_back(name, engine_names[int(usual_engine())]);
  return settings;
}

}  // namespace poslab
