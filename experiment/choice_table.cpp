#include "experiment/choice_table.h"

#include <algorithm>
#include <cmath>

#include "encodings/temperature.h"

namespace poslab {

Option text_option(const std::string& name, const std::string& standard, const std::string& help) {
  Option o(name, std::vector<std::string>{standard}, help);
  o.words.clear();
  return o;
}

Option positions_option() { return text_option("positions", "sequential", "which positions the tokens carry"); }
Option lr_option() { return {"lr", 1e-3, {1e-12, 100}, "learning rate of Adam, after the warm-up"}; }
Option warmup_option(int standard) {
  return {"warmup", standard, {0, 1e9}, "steps over which the learning rate rises to lr"};
}
Option clip_option() {
  return {"clip", 1., {1e-12, 1e12}, "largest norm of a gradient; a longer one is shortened to it"};
}
Option seed_option() { return {"seed", 0, {0, 999999999}, "of all random numbers"}; }

ChoiceTable choice_table(const std::string& owner, const OwnOptions& own, const std::vector<ChoicePreset>& presets) {
  ChoiceTable table{owner, {}, presets};
  const auto add = [&](const char* group, const std::vector<Option>& options, bool kept = true) {
    for (const Option& o : options) table.options.push_back({group, o, kept});
  };
  add("What is studied", {{"preset", names_of(presets), "start from these settings; the other options override them"}});
  add("What is studied", own.studied);
  add("Model", own.model);
  add("Training", own.training);
  add("Evaluation", own.evaluation);
  add("Running", {{"checkpoint_every", 500, {1, 1e9}, "steps between two checkpoints"},
                  {"log_every", 10, {1, 1e9}, "steps between two lines of metrics.jsonl"}});
  const std::vector<std::string> engines(std::begin(engine_names), std::end(engine_names));
  table.options.push_back({"Running", {"products", engines, "by what a CPU multiplies matrices"}, true, true});
  add("Running",
      {Option("keep_checkpoints", false, "keep all checkpoints, for `poslab view`"),
       {"threads", 0, {0, 256}, "0: one for each core; never changes a result"},
       text_option("out", "", "the run folder to make")},
      false);
  return table;
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

bool written(const ChoiceOption& o, const Choices& c) {
  return o.kept && !(o.newer && c[o.option.name] == o.option.standard);
}

Settings kept(const ChoiceTable& table, const Choices& c) {
  Settings all;
  for (const ChoiceOption& o : table.options)
    if (written(o, c)) all.emplace_back(o.option.name, c[o.option.name]);
  return all;
}

void stop_if_diverged(const Choices& c, int64_t step, double loss, double grad_norm) {
  for (const auto& [x, what] : {std::pair{loss, "loss"}, {grad_norm, "gradient's norm"}})
    if (!std::isfinite(x))
      failure("the {} is {} at step {}: training has diverged; lower lr (now {}) or clip (now {})", what, x, step + 1,
              c["lr"], c["clip"]);
}

Chosen<Scheme> scheme(const Choices& c) { return choose_encoding(c["encoding"], trained_on(c.whole("train_length"))); }
Chosen<Sampler> sampler(const Choices& c) { return sampler_for(scheme(c), choose_sampler(c["positions"])); }

Engine products(const Choices& c) {
  const auto name = std::find(std::begin(engine_names), std::end(engine_names), c["products"]);
  return Engine(name - std::begin(engine_names));                       // the option takes no other word
}

void must_not_be_aligned(const std::string& temperature) {
  if (read_spelling(temperature).name == "aligned")
    bad_input("temperature = {}: it is of a trained model; train without, and say --temperature when you test",
              temperature);
}

}  // namespace poslab
