// The table of options. Adding one takes a line here and a member in Config; everything else reads this table.
#include <algorithm>

#include "core/names.h"
#include "encodings/compose.h"
#include "encodings/temperature.h"
#include "experiment/build.h"
#include "tasks/curriculum.h"
#include "tasks/task.h"

namespace poslab {
namespace {

std::vector<std::string> tasks() { return names_of(all_tasks()); }
std::vector<std::string> encodings() { return names_of(all_encodings()); }
std::vector<std::string> samplers() { return names_of(all_samplers()); }
std::vector<std::string> curricula() { return names_of(all_curricula()); }
std::vector<std::string> presets() { return names_of(all_presets()); }
std::vector<std::string> test_samplers() {
  std::vector<std::string> names = samplers();
  names.insert(names.begin(), "same");
  return names;
}

std::vector<std::string> temperatures() { return names_of(all_temperatures()); }
std::vector<std::string> test_temperatures() {
  std::vector<std::string> names = temperatures();
  names.insert(names.begin(), "same");
  return names;
}

std::vector<std::string> resamplings() { return names_of(all_resamplings()); }
std::vector<std::string> devices() { return names_of(all_devices()); }
std::vector<std::string> matmuls() { return names_of(all_matmuls()); }
std::vector<std::string> engines() { return names_of(all_engines()); }

// The spelling without the options that all runs have, which are set.
template <class Thing>
std::string spell(Config& c, const char* kind, const std::vector<Thing>& list, const std::string& text) {
  Spelling spelling = read_spelling(text);
  const Thing& thing = find(kind, list, spelling.name);
  const Choices all = choose_options(thing.name, thing.options, spelling, {});
  std::erase_if(spelling.said, [&](const auto& said) {
    const Option& o = find("option", thing.options, said.first);
    if (!o.run_option.empty()) set(c, option(o.run_option), all[o.name]);
    return !o.run_option.empty();
  });
  return choose_options(thing.name, thing.options, spelling, {}).spelled();
}
void spell_encoding(Config& c, const std::string& text) {   // of a composition no part is the run's
  c.encoding = composed_spelling(text) ? choose_encoding(text).spelled() : spell(c, "encoding", all_encodings(), text);
}
void spell_task(Config& c, const std::string& text) { c.task = spell(c, "task", all_tasks(), text); }
void spell_positions(Config& c, const std::string& text) {
  c.positions = composed_spelling(text) ? choose_sampler(text).spelled() : spell(c, "positions", all_samplers(), text);
}
// Where `text` is a name alone, it must be one of these.
void check_name(const char* option, const std::string& text, const std::vector<std::string>& names) {
  if (composed_spelling(text) || !read_spelling(text).said.empty()) return;
  if (std::find(names.begin(), names.end(), text) == names.end()) raise<BadInput>(unknown(option, text, names));
}
// Of the test alone, so that it leaves the options of the run as they are.
void spell_test_positions(Config& c, const std::string& text) {
  check_name("test_positions", text, test_samplers());
  c.test_positions = text == "same" ? text : choose_sampler(text).spelled();
}

void spell_temperature(Config& c, const std::string& text) { c.temperature = choose_temperature(text).spelled(); }
void spell_test_temperature(Config& c, const std::string& text) {
  check_name("test_temperature", text, test_temperatures());
  c.test_temperature = text == "same" ? text : choose_temperature(text).spelled();
}

// The options that all runs have of those which `things` own, after those in `options`; each once, with all values that
// any takes.
template <class Thing>
void add_owned(std::vector<RunOption>& options, const std::string& group, const std::vector<Thing>& things) {
  for (const Thing& thing : things)
    for (Option o : thing.options) {
      if (o.run_option.empty()) continue;
      o.name = o.run_option;
      const auto same =
          std::find_if(options.begin(), options.end(), [&](const RunOption& r) { return r.name == o.name; });
      if (same == options.end()) options.push_back({o.name, group, o, o.help});
      else if (Option* owned = std::get_if<Option>(&same->field))
        for (const std::string& word : o.words)
          if (std::find(owned->words.begin(), owned->words.end(), word) == owned->words.end())
            owned->words.push_back(word);
    }
}

constexpr double most_steps = 4294967295;  // a stream of random numbers has 32 bits for the step (core/random.h)

std::vector<RunOption> make_options() {
  using C = Config;
  static const std::string what = "What is studied", model = "Model", training = "Training", test = "Evaluation",
                           running = "Running";
  std::vector<RunOption> options = {
      {"preset", what, &C::preset, "start from a published setting; the other options override it", 0, 0, presets},
      {"task", what, &C::task, "the task to learn", 0, 0, tasks, true, spell_task},
      {"encoding", what, &C::encoding, "the positional encoding", 0, 0, encodings, true, spell_encoding},
      {"positions", what, &C::positions, "which positions the tokens carry", 0, 0, samplers, true, spell_positions},
      {"max_position", what, &C::max_position, "size of the pool of positions, rows of the learned table", 1, 1 << 24},
      {"first_position", what, &C::first_position,
       "smallest position of the pool: 0 in the released code, 1 in the paper", 0, 1},
  };
  add_owned(options, what, all_samplers());
  options.push_back({"resample", what, &C::resample, "when positions are drawn anew", 0, 0, resamplings});
  add_owned(options, what, all_encodings());
  options.push_back({"temperature", what, &C::temperature, "a factor on all logits of a query, by the number of keys",
                     0, 0, temperatures, true, spell_temperature, true});
  const std::vector<RunOption> others = {
      {"layers", model, &C::layers, "number of blocks", 1, 256},
      {"heads", model, &C::heads, "attention heads; must divide d_model", 1, 1024},
      {"d_model", model, &C::d_model, "width", 1, 65536},
      {"widening", model, &C::widening, "width of the feed-forward layer / d_model", 1, 64},
      {"causal", model, &C::causal, "a token sees only earlier ones"},
      {"dropout", model, &C::dropout, "dropout rate", 0, 0.99},

      {"steps", training, &C::steps, "training steps", 1, most_steps},
      {"batch", training, &C::batch, "sequences in a step", 1, 1 << 20},
      {"lr", training, &C::lr, "learning rate of Adam", 1e-12, 100},
      {"clip", training, &C::clip, "largest norm of a gradient; a longer one is shortened to it", 1e-12, 1e12},
      {"train_length", training, &C::train_length, "longest training input", 1, 1 << 20},
      {"curriculum", training, &C::curriculum, "which length a step uses", 0, 0, curricula},
      {"seed", training, &C::seed, "of all random numbers", 0, 999999999999999},

      {"eval_lengths", test, &C::eval_lengths, "input lengths to test, FROM:TO", 1, 1 << 20},
      {"eval_samples", test, &C::eval_samples, "sequences for each length", 1, 1 << 14},
      {"test_positions", test, &C::test_positions, "positions at test; sequential turns randomization off", 0, 0,
       test_samplers, true, spell_test_positions},
      {"test_temperature", test, &C::test_temperature, "temperature at test, of a policy without parameters", 0, 0,
       test_temperatures, true, spell_test_temperature, true},
      {"test_dropout", test, &C::test_dropout, "dropout at test, as in the released code"},
      {"test_every", test, &C::test_every, "steps between two small tests while training, into tests.jsonl; 0: none", 0,
       most_steps},

      {"checkpoint_every", running, &C::checkpoint_every, "steps between two checkpoints", 1, most_steps},
      {"log_every", running, &C::log_every, "steps between two lines of metrics.jsonl", 1, most_steps},
      {"device", running, &C::device, "where kernels run", 0, 0, devices},
      {"matmul", running, &C::matmul, "what the factors of products are rounded to", 0, 0, matmuls,
       true, nullptr, true},
      {"products", running, &C::products, "by what a CPU multiplies matrices", 0, 0, engines, true, nullptr, true},
      {"keep_checkpoints", running, &C::keep_checkpoints, "keep all checkpoints, for `poslab view`", 0, 0,
       nullptr, false},
      {"threads", running, &C::threads, "0: one for each core; never changes a result", 0, 256, nullptr, false},
      {"out", running, &C::out, "the run folder to make", 0, 0, nullptr, false},
  };
  options.insert(options.end(), others.begin(), others.end());
  return options;
}

}  // namespace

const std::vector<RunOption>& all_options() {
  static const std::vector<RunOption> options = make_options();
  return options;
}

const std::vector<Preset>& all_presets() {
  // example, released and paper test with dropout on, because the released code has no switch for it (spec, finding 3).
  // Two things of its tests no preset has: its test strings come from seed 1 whatever the run's seed, and it counts
  // whole sub-batches of 64, so 448 of the paper's 500 samples a length (docs/encodings.md).
  static const std::vector<Preset> presets = {
      {"none", "the defaults",
       R"(Every option is at its default. The sizes are those of the released code's example, with dropout off
at test.)", {}},
      {"tiny",
       "seconds on one core: 3 layers, 3,000 steps of 32 to length 20, tested on lengths 1 .. 100 with 32 each",
       R"(The direction of an effect on one core, while you wait: three of five layers, a quarter of the
batch, half the training length. Figures of this size are not the paper's.)",
       {{"layers", "3"},
        {"steps", "3000"},
        {"batch", "32"},
        {"lr", "0.0003"},
        {"train_length", "20"},
        {"max_position", "400"},
        {"eval_lengths", "1:100"},
        {"eval_samples", "32"}}},
      {"example",
       "the sizes of the released code's example: 10,001 steps of 128 to length 40, tested on lengths 1 .. 100 with "
       "512 each",
       R"(What the released code's example trains: the published model, 10,001 steps of 128 strings of up to
40 symbols, tested on lengths 1 to 100. Dropout is on at test, because the released code has no
switch for it.)",
       {{"steps", "10001"},
        {"batch", "128"},
        {"lr", "0.001"},
        {"train_length", "40"},
        {"curriculum", "uniform"},
        {"eval_lengths", "1:100"},
        {"eval_samples", "512"},
        {"test_dropout", "on"}}},
      {"released",
       "example with what the released code does to randomized relative: its clamped table, positions drawn in every "
       "layer",
       R"(Randomized relative positions exactly as the released code computes them, which is not as the paper
describes them: its lookup of distances is clamped, and every layer draws positions of its own.
Otherwise the setting of `example`.)",
       {{"encoding", "relative:mode=released"},
        {"positions", "randomized"},
        {"resample", "per_layer"},
        {"steps", "10001"},
        {"batch", "128"},
        {"lr", "0.001"},
        {"train_length", "40"},
        {"curriculum", "uniform"},
        {"eval_lengths", "1:100"},
        {"eval_samples", "512"},
        {"test_dropout", "on"}}},
      {"paper",
       "the paper: 2,000,000 steps, tested on lengths 41 .. 500 with 500 each; lr 1e-4, 3e-4 or 5e-4, the best counts",
       R"(The setting of the paper's text: two million steps, strings of up to 40 symbols, tested on lengths
41 to 500. Each figure of the paper is the best of three learning rates and ten seeds. It is made
for a cluster or a GPU.)",
       {{"steps", "2000000"},
        {"batch", "128"},
        {"lr", "0.0003"},
        {"train_length", "40"},
        {"curriculum", "uniform"},
        {"eval_lengths", "41:500"},
        {"eval_samples", "500"},
        {"test_dropout", "on"},
        {"log_every", "100"},
        {"checkpoint_every", "10000"},
        {"first_position", "1"}}},
  };
  return presets;
}

}  // namespace poslab
