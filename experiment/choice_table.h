// The options of a kind of run: one table for the command line, TOML files, `--set`, the help and config.toml.
#pragma once
#include "autograd/tape.h"
#include "core/backend.h"
#include "core/engine.h"
#include "encodings/temperature.h"

namespace poslab {

struct ChoiceOption {
  std::string group;
  Option option;
  // Whether config.toml and checkpoints keep it. They do not keep the number of threads, the folder's name and
  // keep_checkpoints: these never change a result, and equal runs must leave equal files.
  bool kept = true;
};
std::string dashed(const std::string& name);         // --max-position

Settings read_settings(const std::string& words);   // "layers=3 heads=4"
struct ChoicePreset {  // an entry of presets.txt
  std::string name, summary;
  Settings settings;
  std::string about = "";                            // at most five lines
};

struct ChoiceTable {
  std::string owner;     // "lm" for the command `poslab lm`; "" for others
  std::vector<ChoiceOption> options;
  std::vector<ChoicePreset> presets;
  Choices standard = defaults(owner, options);
  static Choices defaults(const std::string& owner, const std::vector<ChoiceOption>&);
};
// The options of a kind of run, by group. All kinds have preset before these, and after these from, optimizer,
// schedule, lr_floor, weight_decay, accumulate, device, matmul, products, keep_checkpoints, threads and out.
std::vector<Option> saving_options(int checkpoint_every, double most);
struct OwnOptions {
  std::vector<Option> studied, model, training, rates, evaluation, running = saving_options(500, 1e9);
};
ChoiceTable choice_table(const std::string& owner, const OwnOptions&);
// Options of all kinds, or of several. SettingsOf: the options that a spelling sets; by default only `positions`.
using SettingsOf = Settings (*)(const std::string& text);
Option spelled_option(const std::string& name, const std::string& standard, const std::string& help,
                      std::vector<std::string> words, SettingsOf);
Option encoding_option(const std::string& standard, const std::string& help);
Option positions_option(SettingsOf = nullptr), temperature_option(const std::string& help);
Option lr_option(const std::string& help = "learning rate of Adam, after the warm-up"), clip_option();
Option loops_option(std::vector<std::string> words = {});
Option warmup_option(int standard), cooling_option(double standard), seed_option(double most = 999999999);
std::vector<Option> rate_options(int warmup, double cooling);  // warmup, cooling and seed, with lr and clip
// lr min((step + 1) / warmup, fall). `fall` goes from 1 to lr_floor over the last share `cooling` of the steps, or
// over all steps after the warm-up if fewer: linearly or as half a cosine (Loshchilov & Hutter 2017, without
// restarts). From `steps` on it stays at lr_floor.
double learning_rate(const Choices&, int64_t step);

// Options from one source, such as a command line, a file or a call, each with one value: a spelling may set another
// option too, as positions = randomized:max_position=50 sets max_position.
class OneSource {
 public:
  explicit OneSource(Choices base) : choices(std::move(base)) {}
  // Throws BadInput for an unknown option or name, a number out of range, or a second value from this source.
  void add(const std::string& option, const std::string& text);
  void add(const Settings&);
  Choices choices;     // everything added, over the base
  Settings settings;   // everything added, option by option

 private:
  struct Given { std::string option, text, value; };
  std::map<std::string, Given> from_;   // by option
};
[[noreturn]] void refuse_two_values(const std::string& option, const Settings::value_type& one,
                                    const Settings::value_type& other);
// Options by name: where both have one, `above` takes precedence.
Settings joined(Settings below, const Settings& above);
// Sources as one, with all options that their spellings set; a later source takes precedence. Throws BadInput as
// OneSource does.
Settings overlaid(const ChoiceTable&, const std::vector<Settings>& sources);
Settings overlaid(const ChoiceTable&, const Settings& below, const Settings& above);
// Defaults, then the preset that `settings` names, then `settings`, which are one source. Throws as OneSource does.
Choices configure(const ChoiceTable&, const Settings& settings);
// The options of the pool of positions: their names in a sampler, and in a run, where they serve all samplers.
inline constexpr std::pair<const char*, const char*> pool_options[] = {{"max_position", "max_position"},
                                                                       {"first", "first_position"}};
// The run's pool, with a sampler's names for its options, and the slots of the longest trained input.
RunValues run_values(const Choices&);
int slots(const Choices&, int length);     // input and output slots of the model at an input length
Engine products(const Choices&);           // the engine of the run's products
Rounding rounding(const Choices&);        // the precision to which factors of its products are rounded
// While this object lives, the calling thread multiplies as this run does on its device; other runs of the process may
// differ. Every pass needs one. Throws BadInput if the device does not support it.
MatmulPrecision precision(const Choices&);
// The same for passes without gradients: while it lives, the calling thread also records nothing.
struct Inference {
  explicit Inference(const Choices& c) : products(precision(c)) {}
  NoGrad no_grad;
  MatmulPrecision products;
};
// Throws BadInput for the temperature that `poslab align` finds for a trained model.
void refuse_aligned(const Chosen<TemperaturePolicy>&);
// The least and the largest position that a sampler without parts gives this many slots. If it is random, the least is
// that of one draw, and the largest a bound.
std::pair<double, double> least_and_most(const Chosen<Sampler>&, int slots);
// Rows that a learned table needs, from position 0 on: for a sampler's pool and for its positions of this many slots.
// (`cape` has positions below 0, which no table has.)
int rows_for(const Chosen<Sampler>&, int slots);
// Throws BadInput for a sampler that reads classes of tokens, in runs on texts.
void refuse_class_readers(const Chosen<Sampler>&);
Settings kept(const ChoiceTable&, const Choices&);   // the kept options, in the order of the table

// Throws Failure, naming lr and clip, if the loss or the gradient's norm of a step is not finite. length: common to the
// step's strings, for the message.
void stop_if_diverged(const Choices&, int64_t step, double loss, double grad_norm, int length = 0);

}  // namespace poslab
