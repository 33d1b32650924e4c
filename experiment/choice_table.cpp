#include "experiment/choice_table.h"

#include <cmath>

#include "encodings/encoding.h"
#include "encodings/temperature.h"

namespace poslab {

Option text_option(const std::string& name, const std::string& standard, const std::string& help) {
  Option o(name, std::vector<std::string>{standard}, help);
  o.words.clear();
  return o;
}

Choices configure(const ChoiceTable& table, const Settings& settings) {
  std::vector<Option> options;
  for (const ChoiceOption& o : table.options) options.push_back(o.option);
  Choices c(table.owner, options);
  for (const auto& [name, value] : settings)
    if (name == "preset") c.set(name, value);
  Settings all = find("preset", table.presets, c["preset"]).settings;
  all.insert(all.end(), settings.begin(), settings.end());
  for (const auto& [name, value] : all) {
    if (name == "encoding")
      c.set(name, choose_encoding(value).spelled());
    else if (name == "positions")
      c.set(name, choose_sampler(value).spelled());
    else if (name == "temperature")
      c.set(name, choose_temperature(value).spelled());
    else
      c.set(name, value);
  }
  return c;
}

Settings kept(const ChoiceTable& table, const Choices& c) {
  Settings all;
  for (const ChoiceOption& o : table.options)
    if (o.kept) all.emplace_back(o.option.name, c[o.option.name]);
  return all;
}

void stop_if_diverged(const Choices& c, int64_t step, double loss, double grad_norm) {
  for (const auto& [x, what] : {std::pair{loss, "loss"}, {grad_norm, "gradient's norm"}})
    if (!std::isfinite(x))
      failure("the {} is {} at step {}: training has diverged; lower lr (now {}) or clip (now {})", what, x, step + 1,
              c["lr"], c["clip"]);
}

void must_not_be_aligned(const std::string& temperature) {
  if (read_spelling(temperature).name == "aligned")
    bad_input("temperature = {}: it is of a trained model; train without, and say --temperature when you test",
              temperature);
}

}  // namespace poslab
