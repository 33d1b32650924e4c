// Every choice that makes a run, and the one table of options that the command line, TOML files, `--set`, the help text
// and config.toml are all made from. Which choices fit together is said in experiment/check.cpp; what they build, in
// experiment/build.h.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace poslab {

struct Lengths {
  int from = 1, to = 100;
};  // both included; written 1:100

struct Config {
  std::string preset = "none";

  std::string task, encoding;            // no default: every run says what it studies
  std::string positions = "sequential";  // a sampler of encodings/positions.h
  int max_position = 2048, first_position = 0;
  bool unsorted = false;
  std::string resample = "per_forward";
  std::string relative_mode = "paper";
  bool alibi_symmetric = false;
  std::string rope_pairing = "interleaved";

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
  bool test_dropout = false;
  int64_t test_every = 0;  // 0: not while training

  int64_t checkpoint_every = 1000, log_every = 10;
  std::string device = "cpu";
  int threads = 0;  // 0: as many as there are cores
  std::string out;
};

struct Option {
  using Field = std::variant<std::string Config::*, bool Config::*, int Config::*, int64_t Config::*, double Config::*,
                             Lengths Config::*>;
  std::string name, group;  // name as in TOML: max_position; on the command line --max-position
  Field field;
  std::string help;
  double least = 0, most = 0;                     // of numbers and lengths, both allowed
  std::vector<std::string> (*names)() = nullptr;  // of a choice among names
  // Whether it belongs to the run and is kept in config.toml and in checkpoints. The number of threads and the folder's
  // name do not: they never change a result, and equal runs shall have equal files.
  bool kept = true;
};
const std::vector<Option>& all_options();       // experiment/options.cpp
const Option& option(const std::string& name);  // throws BadInput with did-you-mean
std::string dashed(const std::string& name);    // --max-position
std::string takes(const Option&);               // "1 .. 4096", "on | off", "none | sincos | ..."

std::string get(const Config&, const Option&);
void set(Config&, const Option&, const std::string& text);  // throws BadInput: not a number, out of range, unknown name

struct Preset {
  std::string name, summary;
  std::vector<std::pair<std::string, std::string>> settings;
};
const std::vector<Preset>& all_presets();

using Settings = std::vector<std::pair<std::string, std::string>>;  // name and text, a later one wins
// Defaults, then the preset that `settings` names, then `settings`.
Config configure(const Settings&);

void check(const Config&);  // experiment/check.cpp: throws BadInput if the choices do not fit together

}  // namespace poslab
