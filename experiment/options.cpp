// The options of a run of a task. Adding one takes a line here; everything else reads this table.
#include <algorithm>

#include "encodings/compose.h"
#include "encodings/temperature.h"
#include "experiment/build.h"
#include "experiment/config.h"
#include "tasks/curriculum.h"
#include "tasks/task.h"

namespace poslab {
extern const std::string_view other_names_txt;
namespace {

// "steps: fast quick. Fewer steps take less time"
const std::vector<OtherNames> other_names = [] {
  std::vector<OtherNames> all;
  for (const std::string& line : split(std::string(other_names_txt), '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    const size_t colon = line.find(": "), dot = std::min(line.find(". "), line.size());
    all.emplace_back(line.substr(0, colon), split(line.substr(colon + 2, dot - colon - 2), ' '),
                     dot < line.size() ? line.substr(dot + 2) : "");
  }
  return all;
}();

Settings task_sets(const std::string& text) { return {{"task", choose("task", all_tasks(), text).spelled()}}; }

// The pool in a sampler's spelling is the run's pool, which a learned table also uses.
Settings positions_set(const std::string& text) {
  if (composed_spelling(text)) return {{"positions", choose_sampler(text).spelled()}};
  Settings all;
  const Spelling spelling = read_spelling(text);
  Chosen<Sampler> sampler = choose("positions", all_samplers(), text);
  const Choices usual(sampler->name, sampler->options);
  for (const auto& [own, of_run] : pool_options)
    for (const auto& [name, value] : spelling.settings)
      if (name == own) all.emplace_back(of_run, sampler.choices[own]), sampler.choices.set(own, usual[own]);
  all.emplace_back("positions", sampler.spelled());
  return all;
}

// Options of the test only, which do not change the run's: "same", or a spelling for `choose`.
template <class Thing>
std::vector<std::string> with_same(const std::vector<Thing>& list) {
  std::vector<std::string> names = names_of(list);
  names.insert(names.begin(), "same");
  return names;
}
template <class Thing, class Choose>
Settings of_the_test(const char* name, const std::vector<Thing>& list, const std::string& text, const Choose& choose) {
  const std::vector<std::string> names = with_same(list);
  const bool alone = !composed_spelling(text) && read_spelling(text).settings.empty();
  if (alone && std::find(names.begin(), names.end(), text) == names.end()) raise<BadInput>(unknown(name, text, names));
  return {{name, text == "same" ? text : choose(text).spelled()}};
}
Settings test_positions_set(const std::string& text) {
  return of_the_test("test_positions", all_samplers(), text, [](auto& t) { return choose_sampler(t); });
}
Settings test_temperature_sets(const std::string& text) {
  return of_the_test("test_temperature", all_temperatures(), text, [](auto& t) { return choose_temperature(t); });
}

constexpr double most_steps = 4294967295;  // a stream of random numbers has 32 bits for the step (core/random.h)

}  // namespace

Option test_positions_option() {
  return spelled_option("test_positions", "same", "positions at test; sequential turns randomization off",
                        with_same(all_samplers()), test_positions_set);
}

const ChoiceTable& all_choices() {
  static const ChoiceTable table = choice_table(
      "",
      {.studied = {spelled_option("task", "", "the task to learn", names_of(all_tasks()), task_sets),
                   encoding_option("", "the positional encoding"),
                   positions_option(positions_set),
                   {"max_position", 2048, {1, 1 << 24},
                    "pool of positions, for samplers such as randomized; rows of the learned table"},
                   {"first_position", 0, {0, 1},
                    "smallest position: 0 in the released code, 1 in the paper; no effect if only distances count"},
                   {"resample", names_of(all_resamplings()), "when positions are resampled"},
                   temperature_option("a factor on all logits of a query, by the number of keys")},
       .model = {{"layers", 5, {1, 256}, "number of blocks"},
                 {"heads", 8, {1, 1024}, "attention heads; must divide d_model"},
                 {"d_model", 64, {1, 65536}, "width"},
                 {"ffn_multiplier", 4, {1, 64}, "width of the feed-forward layer / d_model"},
                 loops_option({"length"}),
                 {"causal", false, "a token sees only itself and earlier ones"},
                 {"dropout", 0.1, {0, 0.99}, "dropout rate"}},
       .training = {{"steps", 10001, {1, most_steps}, "training steps"},
                    {"batch", 128, {1, 1 << 20}, "sequences in a step"},
                    lr_option("learning rate of Adam"),
                    clip_option(),
                    {"train_length", 40, {1, 1 << 20}, "longest training input"},
                    {"curriculum", names_of(all_curricula()), "which length a step uses"},
                    seed_option(999999999999999),
                    warmup_option(0),
                    cooling_option(0)},
       .evaluation = {Option::lengths("eval_lengths", "1:100", {1, 1 << 20}, "input lengths to test, FROM:TO"),
                      {"eval_samples", 512, {1, 1 << 14}, "sequences for each length"},
                      test_positions_option(),
                      spelled_option("test_temperature", "same",
                                     "temperature at test: a policy without parameters",
                                     with_same(all_temperatures()), test_temperature_sets),
                      {"test_dropout", false, "dropout at test, as in the released code"},
                      {"test_every", 0, {0, most_steps},
                       "steps between two small tests while training, into tests.jsonl; 0: none"}},
       .running = saving_options(1000, most_steps)});
  return table;
}

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
    settings.emplace_back(name, engine_names[int(default_engine())]);
  return settings;
}

}  // namespace poslab
