// Every choice that makes a run of a language model: one table, from which the command line, config.toml and the help
// are made. The idiom is that of core/choices.h.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/choices.h"
#include "nn/decoder.h"

namespace poslab::language {

struct RunOption {
  std::string group;
  Option option;
  bool kept = true;      // in config.toml and checkpoints; not threads and out, which never change a result
};
const std::vector<RunOption>& all_options();
using Settings = std::vector<std::pair<std::string, std::string>>;   // name and text, a later one wins

constexpr int parts = 8;   // of a window: losses are told by position too

struct Preset {
  std::string name, summary;
  Settings settings;
};
const std::vector<Preset>& all_presets();

// Defaults, then the preset that `settings` names, then `settings`. Spelled things are in their one form. Throws
// BadInput: unknown option or name, a number out of range.
Choices configure(const Settings&);
Settings kept(const Choices&);   // all kept options, in the order of the table
// Throws BadInput for choices that do not fit together.
void check(const Choices&);

DecoderSpec decoder_spec(const Choices&, int vocabulary);
Chosen<Sampler> sampler(const Choices&);
std::vector<int> eval_lengths(const Choices&);   // in tokens

}  // namespace poslab::language
