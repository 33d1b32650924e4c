// The options of a run that are kept as Choices, as of a language model or a T5: one table, from which the command
// line, config.toml and the help are made.
#pragma once
#include "core/engine.h"
#include "encodings/encoding.h"
#include "experiment/config.h"

namespace poslab {

struct ChoiceOption {
  std::string group;
  Option option;
  bool kept = true;      // in config.toml and checkpoints; not threads and out, which never change a result
  bool newer = false;    // as of a RunOption: written only where it is away from its default
};
bool written(const ChoiceOption&, const Choices&);   // in config.toml, plans and checkpoints
Option text_option(const std::string& name, const std::string& standard, const std::string& help);   // takes any text

struct ChoicePreset {
  std::string name, summary;
  Settings settings;
};

struct ChoiceTable {
  std::string owner;     // "lm": the command, `poslab lm`
  std::vector<ChoiceOption> options;
  std::vector<ChoicePreset> presets;
};
// The options of a kind of run, by group. All kinds have `preset` before them, and after them what says how a run is
// kept: checkpoint_every, log_every, keep_checkpoints, threads and out.
struct OwnOptions {
  std::vector<Option> studied, model, training, evaluation;
};
ChoiceTable choice_table(const std::string& owner, const OwnOptions&, const std::vector<ChoicePreset>&);
Option positions_option(), lr_option(), clip_option(), seed_option();   // the same of all kinds
Option warmup_option(int standard);
// Defaults, then the preset that `settings` names, then `settings`. Encoding, positions and temperature are in their
// one form. Throws BadInput: unknown option or name, a number out of range.
Choices configure(const ChoiceTable&, const Settings&);
Chosen<Scheme> scheme(const Choices&);     // the run's encoding; shares are of its train_length
Engine products(const Choices&);           // by what the run multiplies
Chosen<Sampler> sampler(const Choices&);   // the run's positions, as its encoding takes them
// Throws BadInput for the temperature that `poslab align` finds for a trained model.
void must_not_be_aligned(const std::string& temperature);
Settings kept(const ChoiceTable&, const Choices&);   // all that is written, in the order of the table

// Throws Failure, naming lr and clip, if the loss or the gradient's norm of a step is not finite.
void stop_if_diverged(const Choices&, int64_t step, double loss, double grad_norm);

}  // namespace poslab
