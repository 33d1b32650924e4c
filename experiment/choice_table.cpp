#include "experiment/choice_table.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiment/build.h"
#include "tasks/task.h"

namespace poslab {

extern const std::string_view presets_txt;

std::string dashed(const std::string& name) {
  std::string dashes = "--" + name;
  std::replace(dashes.begin(), dashes.end(), '_', '-');
  return dashes;
}

Option spelled_option(const std::string& name, const std::string& standard, const std::string& help,
                      std::vector<std::string> words, SettingsOf sets) {
  Option o = Option::text(name, standard, help);
  o.words = std::move(words), o.sets = sets;
  return o;
}
Option encoding_option(const std::string& standard, const std::string& help) {
  return spelled_option("encoding", standard, help, names_of(all_encodings()), [](const std::string& text) {
    return Settings{{"encoding", choose_encoding(text).spelled()}};
  });
}
Option positions_option(SettingsOf sets) {
  const SettingsOf alone = [](const std::string& text) {
    return Settings{{"positions", choose_sampler(text).spelled()}};
  };
  return spelled_option("positions", "sequential", "which positions the tokens carry", names_of(all_samplers()),
                        sets ? sets : alone);
}
Option temperature_option(const std::string& help) {
  return spelled_option("temperature", "none", help, names_of(all_temperatures()), [](const std::string& text) {
    return Settings{{"temperature", choose_temperature(text).spelled()}};
  });
}
Option lr_option(const std::string& help) { return {"lr", 1e-3, {1e-12, 100}, help}; }
Option warmup_option(int standard) {
  return {"warmup", standard, {0, 1e9}, "steps over which the learning rate rises to lr"};
}
Option cooling_option(double standard) {
  return {"cooling", standard, {0, 1},
          "share of the steps, at the end, in which the rate falls; 0: constant, 1: after the warm-up"};
}
double learning_rate(const Choices& c, int64_t step) {
  const double steps = double(c.count("steps")), warmup = double(c.count("warmup")), floor = c.number("lr_floor");
  double fall = 1;
  if (const double share = c.number("cooling"); share > 0) {
    const double falling = std::max(1., std::min(share * steps, steps - warmup));
    const double left = std::clamp((steps - double(step)) / falling, 0., 1.);
    fall = floor + (1 - floor) * (c["schedule"] == "cosine" ? (1 - std::cos(std::numbers::pi * left)) / 2 : left);
  }
  return c.number("lr") * std::min(double(step + 1) / std::max(1., warmup), fall);
}
Option loops_option(std::vector<std::string> words) {
  Option o("loops", 1, {1, 256}, "how many times the blocks run, with the same weights");
  if (!words.empty()) o.help += "; length: once for each symbol of the input";
  o.words = std::move(words);
  return o;
}
Option clip_option() {
  return {"clip", 1., {1e-12, 1e12}, "largest norm of a gradient; a longer one is shortened to it"};
}
Option seed_option(double most) { return {"seed", 0, {0, most}, "seed of all random numbers"}; }
std::vector<Option> rate_options(int warmup, double cooling) {
  return {lr_option(), warmup_option(warmup), cooling_option(cooling), clip_option(), seed_option()};
}
std::vector<Option> saving_options(int checkpoint_every, double most) {
  return {{"checkpoint_every", checkpoint_every, {1, most}, "steps between two checkpoints"},
          {"log_every", 10, {1, most}, "steps between two lines of metrics.jsonl"}};
}

namespace {

std::vector<ChoicePreset> presets_of(const std::string& owner) {
  const std::string heading = fmt::format("[{} ", owner.empty() ? "train" : owner);
  std::vector<ChoicePreset> all;
  bool ours = false;
  for (const std::string& line : split(std::string(presets_txt), '\n')) {
    if (line.starts_with('[')) {
      ours = line.starts_with(heading);
      if (ours) all.push_back({line.substr(heading.size(), line.size() - heading.size() - 1), "", {}});
    } else if (ours && !line.empty() && !line.starts_with('#')) {
      ChoicePreset& of = all.back();
      if (line.starts_with("options: "))
        of.settings = joined(of.settings, read_settings(line.substr(9)));
      else if (of.summary.empty())
        of.summary = line;
      else
        of.about += (of.about.empty() ? "" : "\n") + line;
    }
  }
  return all;
}

}  // namespace

ChoiceTable choice_table(const std::string& owner, const OwnOptions& own) {
  const std::vector<ChoicePreset> presets = presets_of(owner);
  ChoiceTable table{owner, {}, presets, {}};
  const auto add = [&](const char* group, const std::vector<Option>& options, bool kept = true) {
    for (const Option& o : options) table.options.push_back({group, o, kept});
  };
  add("What is studied", {{"preset", names_of(presets), "the setting to start from; the other options override it"}});
  add("What is studied", own.studied);
  add("What is studied",
      {Option::text("from", "", "a run, or a Hugging Face folder, whose weights and options this one begins with")});
  add("Model", own.model);
  add("Training", own.training), add("Training", own.rates);
  add("Training", {{"optimizer", {"fresh", "keep"}, "Adam's moments and step: new, or those of `from`"},
                   {"schedule", {"linear", "cosine"}, "how the learning rate falls while it cools"},
                   {"lr_floor", 0., {0, 1}, "the share of lr at which it ends"},
                   {"weight_decay", 0., {0, 1}, "AdamW's: a step subtracts lr times this share of each matrix"}});
  add("Training", {{"accumulate", 1, {1, 4096},
                    "parts of a batch, computed in turn: less memory, the same step except for dropout"}});
  add("Evaluation", own.evaluation);
  add("Running", own.running);
  const std::vector<std::string> engines(std::begin(engine_names), std::end(engine_names)),
      matmuls(std::begin(rounding_names), std::end(rounding_names));
  add("Running", {{"device", names_of(all_devices()), "where kernels run"},
                  {"matmul", matmuls, "rounding of the factors in matrix products"},
                  {"products", engines, "the engine of matrix products; cublas only on a GPU"}});
  add("Running",
      {Option("keep_checkpoints", false, "keep all checkpoints, for `poslab view`"),
       {"threads", 0, {0, 256}, "0: one for each core; never changes a result"},
       Option::text("out", "", "the run folder to make")},
      false);
  table.standard = ChoiceTable::defaults(owner, table.options);
  return table;
}

Settings read_settings(const std::string& words) {
  Settings all;
  for (const std::string& word : split(words, ' '))
    if (!word.empty()) all.emplace_back(word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
  return all;
}

Choices ChoiceTable::defaults(const std::string& owner, const std::vector<ChoiceOption>& options) {
  std::vector<Option> all;
  for (const ChoiceOption& o : options) all.push_back(o.option);
  return {owner, all};
}

void refuse_two_values(const std::string& option, const Settings::value_type& one, const Settings::value_type& other) {
  bad_input("{} = {} and {} = {} contradict each other; give {} one value", one.first, one.second, other.first,
            other.second, option);
}

void OneSource::add(const std::string& option, const std::string& text) {
  for (const auto& [name, value] : choices.set(option, text)) {
    const auto [at, first] = from_.try_emplace(name, Given{option, text, value});
    const Given& before = at->second;
    if (before.value != value) refuse_two_values(name, {before.option, before.text}, {option, text});
    if (first) settings.emplace_back(name, value);
  }
}

void OneSource::add(const Settings& all) {
  for (const auto& [option, text] : all) add(option, text);
}

Settings joined(Settings below, const Settings& above) {
  std::erase_if(below, [&](const auto& s) {
    return std::any_of(above.begin(), above.end(), [&](const auto& other) { return other.first == s.first; });
  });
  below.insert(below.end(), above.begin(), above.end());
  return below;
}

Settings overlaid(const ChoiceTable& table, const std::vector<Settings>& sources) {
  Settings all;
  for (const Settings& source : sources) {
    OneSource one(table.standard);
    one.add(source);
    all = joined(std::move(all), one.settings);
  }
  return all;
}
Settings overlaid(const ChoiceTable& table, const Settings& below, const Settings& above) {
  return overlaid(table, std::vector{below, above});
}

void check_decay(const Choices& c) {
  if (c.number("lr") * c.number("weight_decay") >= 1)
    bad_input("weight_decay = {} with lr = {}: their product, the share of a matrix that a step subtracts, is {}; it "
              "must be below 1", c["weight_decay"], c["lr"], c.number("lr") * c.number("weight_decay"));
}

Choices configure(const ChoiceTable& table, const Settings& settings) {
  Choices c = table.standard;
  for (const auto& [name, value] : settings)
    if (name == "preset") c.set(name, value);
  OneSource preset(c);
  preset.add(find("preset", table.presets, c["preset"]).settings);
  OneSource all(preset.choices);
  all.add(settings);
  check_decay(all.choices);
  return all.choices;
}

Settings kept(const ChoiceTable& table, const Choices& c) {
  Settings all;
  for (const ChoiceOption& o : table.options)
    if (o.kept) all.emplace_back(o.option.name, c[o.option.name]);
  return all;
}

void stop_if_diverged(const Choices& c, int64_t step, double loss, double grad_norm, int length) {
  for (const auto& [x, what] : {std::pair{loss, "loss"}, {grad_norm, "gradient's norm"}})
    if (!std::isfinite(x))
      failure("the {} is {} at step {}{}: training has diverged; lower lr (now {}) or clip (now {})", what, x, step + 1,
              length ? fmt::format(" (length {})", length) : "", c["lr"], c["clip"]);
}

RunValues run_values(const Choices& c) {
  RunValues values;
  for (const auto& [own, of_run] : pool_options)
    if (c.has(of_run)) values[own] = c[of_run];
  if (!c.has("task") || !c["task"].empty()) values.merge(trained_on(slots(c, c.whole("train_length"))));
  return values;
}

int slots(const Choices& c, int length) {
  return c.has("task") ? length + task(c["task"]).output_length(length) : length;
}

Engine products(const Choices& c) {
  const auto name = std::find(std::begin(engine_names), std::end(engine_names), c["products"]);
  return Engine(name - std::begin(engine_names));                       // the option has no other values
}

Rounding rounding(const Choices& c) {
  const auto name = std::find(std::begin(rounding_names), std::end(rounding_names), c["matmul"]);
  return Rounding(name - std::begin(rounding_names));
}
MatmulPrecision precision(const Choices& c) { return {device(c), rounding(c), products(c)}; }

void refuse_aligned(const Chosen<TemperaturePolicy>& temperature) {
  if (temperature->name == "aligned")
    bad_input("temperature = {}: it belongs to a trained model; train without, and use --temperature when you test",
              temperature.spelled());
}

std::pair<double, double> least_and_most(const Chosen<Sampler>& s, int slots) {
  Rng unused({});
  const Positions drawn = sample(s, {1, slots}, unused);
  const std::vector<double>& p = drawn.only_offsets() ? drawn.distances().value : drawn.tokens(s->name);
  const auto [least, most] = std::minmax_element(p.begin(), p.end());
  if (!s->random || drawn.only_offsets()) return {*least, *most};
  const auto number = [&](const char* option) { return s.choices.has(option) ? s.choices.number(option) : 0; };
  const double from_first = std::max({slots - 1 + number("shift"), number("max_position") - 1, number("range"),
                                      std::ceil(number("gap") * (slots + 1)) - 2});
  return {*least, std::max(*most, number("first") + from_first)};
}

int rows_for(const Chosen<Sampler>& s, int slots) {
  if (s->parts) {
    int rows = s->added ? rows_for(*s->added, slots) : slots;
    for (const Chosen<Sampler>& part : *s->parts) rows = std::max(rows, rows_for(part, slots));
    return rows;
  }
  const int first = s.choices.has("first") ? s.choices.whole("first") : 0;
  const int pool = s.choices.has("max_position") ? s.choices.whole("max_position") : slots;
  const int rows = std::max(pool, slots) + first;
  if (slots > pool_of(s)) return rows;  // refused elsewhere
  return std::max(rows, int(std::min(std::ceil(least_and_most(s, slots).second), 1e9)) + 1);
}

void refuse_class_readers(const Chosen<Sampler>& sampler) {
  if (sampler->reads_classes)
    bad_input(
        "positions = {}: it reads which tokens are digits, but only runs of tasks know that; take another sampler, "
        "see `poslab list samplers`",
        sampler.spelled());
}

}  // namespace poslab
