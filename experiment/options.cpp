// The options of a run of a task. Adding one takes a line here; everything else reads this table.
#include <algorithm>

#include "encodings/compose.h"
#include "encodings/temperature.h"
#include "experiment/build.h"
#include "experiment/config.h"
#include "tasks/curriculum.h"
#include "tasks/task.h"

namespace poslab {
namespace {

const OtherNames words_for_options[] = {
    {"task", {"dataset", "data"}},
    {"encoding", {"pe", "pos-enc", "pos-encoding", "embedding"}},
    {"encoding", {"model"}, "The model is always the transformer; its encoding is what differs"},
    {"positions", {"sampler"}},
    {"positions", {"unsorted"}, "It is an option of the sampler: randomized:unsorted"},
    {"encoding",
     {"relative-mode", "alibi-symmetric", "rope-pairing"},
     "It is an option of the scheme, as in relative:mode=released, alibi:symmetric, rope:pairing=half"},
    {"layers", {"depth", "blocks"}},
    {"d_model", {"width", "dim", "hidden", "hidden-size"}},
    {"ffn_multiplier", {"d-ff", "ffn", "widening"}, "It is d_ff / d_model"},
    {"steps", {"iterations", "iters", "max-steps", "updates"}},
    {"steps", {"fast", "quick"}, "Fewer steps, shorter --train-length and --lengths take less time"},
    {"eval_times", {"lengths", "eval-lengths"}, "A language model is tested at multiples of its trained length"},
    {"times",
     {"lengths", "eval-lengths", "context", "context-length"},
     "A language model is tested at multiples of its trained length"},
    {"steps", {"epochs", "epoch", "num-epochs"}, "Every step draws fresh strings, so there are no epochs"},
    {"batch", {"bs", "minibatch"}},
    {"lr", {"learning-rate"}},
    {"weight_decay", {"wd", "decay"}},
    {"weight_decay", {"optim", "adamw"}, "The optimizer is Adam, and with a weight decay AdamW"},
    {"from", {"init", "init-from", "pretrained", "warm-start"}},
    {"schedule", {"scheduler", "lr-schedule", "annealing"}},
    {"cooling", {"cooldown"}},
    {"warmup", {"warmup-steps"}},
    {"matmul", {"dtype", "precision", "bf16", "fp16", "amp"}, "All is float32; products may round to bf16"},
    {"threads", {"num-workers", "n-jobs", "cpus", "cores"}},
    {"clip", {"grad-clip"}},
    {"train_length", {"max-length", "seq-len", "length"}},
    {"eval_lengths", {"test-length", "test-lengths"}},
    {"device", {"gpu", "cuda"}, "Use --device cuda"},
    {"out", {"dir", "folder", "o"}},
    {"text", {"data", "corpus"}},
    {"text", {"task"}, "A language model reads text; `poslab train` has the tasks"},
    {"merges", {"vocab", "vocab-size"}, "Without merges the tokens of a file are its bytes"},
    {"count", {"tokens", "max-tokens", "new-tokens", "max-new-tokens"}},
    {"hf", {"model", "checkpoint"}}};

const std::vector<ChoicePreset>& presets() {
  // example, released and paper test with dropout on, because the released code has no switch for it (spec, finding 3).
  // No preset has two properties of its tests: its test strings come from seed 1 whatever the run's seed, and it counts
  // whole sub-batches of 64, so 448 of the paper's 500 samples a length (docs/encodings.md).
  static const std::vector<ChoicePreset> presets = {
      {"none",
       "the defaults",
       {},
       R"(Every option is at its default. The sizes are those of the released code's example, with dropout off
at test.)"},
      {"tiny",
       "seconds on one core: 3 layers, 3,000 steps of 32 to length 20, tested on lengths 1 .. 100 with 32 each",
       read_settings("layers=3 steps=3000 batch=32 lr=0.0003 train_length=20 max_position=400 eval_lengths=1:100 "
                     "eval_samples=32"),
       R"(The direction of an effect on one core, while you wait: three of five layers, a quarter of the
batch, half the training length. Figures of this size are not the paper's.)"},
      {"example",
       "the sizes of the released code's example: 10,001 steps of 128 to length 40, tested on lengths 1 .. 100 with "
       "512 each",
       read_settings("steps=10001 batch=128 lr=0.001 train_length=40 curriculum=uniform eval_lengths=1:100 "
                     "eval_samples=512 test_dropout=on"),
       R"(What the released code's example trains: the published model, 10,001 steps of 128 strings of up to
40 symbols, tested on lengths 1 to 100. Dropout is on at test, because the released code has no
switch for it.)"},
      {"released",
       "example with the released code's randomized relative: its clamped table, positions drawn in every "
       "layer",
       read_settings("encoding=relative:mode=released positions=randomized resample=per_layer steps=10001 batch=128 "
                     "lr=0.001 train_length=40 curriculum=uniform eval_lengths=1:100 eval_samples=512 "
                     "test_dropout=on"),
       R"(Randomized relative positions exactly as the released code computes them, which is not as the paper
describes them: its lookup of distances is clamped, and every layer draws positions of its own.
Otherwise the setting of `example`.)"},
      {"paper",
       "the paper: 2,000,000 steps, tested on lengths 41 .. 500 with 500 each; lr 1e-4, 3e-4 or 5e-4, the best counts",
       read_settings("steps=2000000 batch=128 lr=0.0003 train_length=40 curriculum=uniform eval_lengths=41:500 "
                     "eval_samples=500 test_dropout=on log_every=100 checkpoint_every=10000 first_position=1"),
       R"(The setting of the paper's text: two million steps, strings of up to 40 symbols, tested on lengths
41 to 500. Each figure of the paper is the best of three learning rates and ten seeds. It is made
for a cluster or a GPU.)"},
  };
  return presets;
}

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

// Options of the test alone, which do not change the run's: "same", or a spelling for `choose`.
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
                    "pool of randomized and other samplers that have this option; rows of the learned table"},
                   {"first_position", 0, {0, 1},
                    "smallest position: 0 in the released code, 1 in the paper; the same if distances count alone"},
                   {"resample", names_of(all_resamplings()), "when positions are resampled"},
                   temperature_option("a factor on all logits of a query, by the number of keys")},
       .model = {{"layers", 5, {1, 256}, "number of blocks"},
                 {"heads", 8, {1, 1024}, "attention heads; must divide d_model"},
                 {"d_model", 64, {1, 65536}, "width"},
                 {"ffn_multiplier", 4, {1, 64}, "width of the feed-forward layer / d_model"},
                 loops_option({"length"}),
                 {"causal", false, "a token sees only earlier ones"},
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
                                     "temperature at test, of a policy without parameters",
                                     with_same(all_temperatures()), test_temperature_sets),
                      {"test_dropout", false, "dropout at test, as in the released code"},
                      {"test_every", 0, {0, most_steps},
                       "steps between two small tests while training, into tests.jsonl; 0: none"}},
       .running = saving_options(1000, most_steps)},
      presets());
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
