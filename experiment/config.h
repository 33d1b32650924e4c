// Every choice that makes a run, and the one table of options that the command line, TOML files, `--set`, the help text
// and config.toml are all made from. Which choices fit together is said in experiment/check.cpp; what they build, in
// experiment/build.h.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/choices.h"

namespace poslab {

struct Lengths {
  int from = 1, to = 100;
};  // both included; written 1:100

struct Config {
  std::string preset = "none";

  std::string task, encoding;            // spelled as in core/choices.h. No default: every run says what it studies
  std::string positions = "sequential";  // a sampler of encodings/positions.h, spelled likewise
  int max_position = 2048, first_position = 0;
  RunValues owned;  // "relative_mode": options of schemes and samplers that all runs have, those away from the default
  std::string resample = "per_forward";
  std::string temperature = "none";      // a policy of encodings/temperature.h

  int layers = 5, heads = 8, d_model = 64, widening = 4;
  bool causal = false;
  double dropout = 0.1;

  int64_t steps = 10001;
  int batch = 128;
  double lr = 1e-3, clip = 1.0;
  int train_length = 40;
  std::string curriculum = "uniform";
  int64_t seed = 0;

  Lengths eval_lengths;
  int eval_samples = 512;
  std::string test_positions = "same";  // or a sampler: randomization off at test is "sequential"
  std::string test_temperature = "same";  // or a policy without parameters
  bool test_dropout = false;
  int64_t test_every = 0;  // 0: not while training

  int64_t checkpoint_every = 1000, log_every = 10;
  std::string device = "cpu";
  std::string matmul = "fp32";  // what the factors of products are rounded to (core/rounding.h)
  std::string products = "own";  // by what a CPU multiplies matrices (core/engine.h)
  bool keep_checkpoints = false;  // all that are written, in place of the newest alone
  int threads = 0;  // 0: as many as there are cores
  std::string out;
};

struct RunOption {
  // The last: an option that a scheme or sampler owns, kept in Config::owned.
  using Field = std::variant<std::string Config::*, bool Config::*, int Config::*, int64_t Config::*, double Config::*,
                             Lengths Config::*, Option>;
  std::string name, group;  // name as in TOML: max_position; on the command line --max-position
  Field field;
  std::string help;
  double min = 0, max = 0;                        // of numbers and lengths, both allowed
  std::vector<std::string> (*names)() = nullptr;  // of a choice among names
  // Whether it belongs to the run and is kept in config.toml and in checkpoints. The number of threads, the folder's
  // name and whether old checkpoints stay do not: they never change a result, and equal runs must leave equal files.
  bool kept = true;
  // Of an option that spells a thing and its options: sets it. What all runs have an option for is kept there, so that
  // a configuration has one form, and the one it always had.
  void (*spell)(Config&, const std::string& text) = nullptr;
  // Of an option that came after the first runs: it is written only where it is away from its default, so that what an
  // old run left and what it would leave today are equal, byte by byte.
  bool newer = false;
  bool toggle() const;  // on | off
};
const std::vector<RunOption>& all_options();       // experiment/options.cpp
const RunOption& option(const std::string& name);  // throws BadInput with did-you-mean
std::string dashed(const std::string& name);    // --max-position
std::string takes(const RunOption&);               // "1 .. 4096", "on | off", "none | sincos | ..."

std::string get(const Config&, const RunOption&);
bool written(const Config&, const RunOption&);     // in config.toml, plans and checkpoints
// throws BadInput: not a number, out of range, unknown name
void set(Config&, const RunOption&, const std::string& text);

struct Preset {
  std::string name, summary, about;      // about: at most five lines
  std::vector<std::pair<std::string, std::string>> settings;
};
const std::vector<Preset>& all_presets();

using Settings = std::vector<std::pair<std::string, std::string>>;  // name and text, a later one wins
// Defaults, then the preset that `settings` names, then `settings`.
Config configure(const Settings&);
// Those of a run that begins now: where they do not say by what it multiplies, the usual engine of the process.
Settings of_new_run(Settings);

RunValues run_values(const Config&);  // of the options that schemes and samplers may read, as `choose` takes them

void check(const Config&);  // experiment/check.cpp: throws BadInput if the choices do not fit together

}  // namespace poslab
