// Options that change nothing under the other choices of a run, as a resampling of positions that are not random.
#pragma once
#include <optional>

#include "experiment/run_spec.h"
#include "nn/generate.h"
#include "nn/t5_generate.h"

namespace poslab {

// Throws BadInput for the first of these options that is away from its default and changes nothing in a run of these
// choices, which fit together. typed: the user's options for this run, without presets and files.
void refuse_without_effect(const RunSpec&, const Settings& typed);

int deepest_stack(const Choices&);          // layers of the stack that has most

// Whether a position that is larger by one, at every token, leaves all logits as they are, to the bit.
bool reads_differences_alone(const Chosen<Scheme>&);

// The same of an encoding or a sampler of a model that has no RunSpec: for parts that none of its layers takes.
void refuse_unreached_parts(const Chosen<Scheme>&, int layers);
void refuse_unreached_parts(const Chosen<Sampler>&, int layers);

// Writing: what has nothing to limit, to begin or to rank. typed: how an option is spelled, "--top-k" or "top_k"; the
// other arguments are the user's own, absent where not given. Throw BadInput for one away from its default.
using OptionName = std::string (*)(const std::string& option);
void refuse_without_draws(const TokenChoice&, std::optional<int> top_k, std::optional<double> top_p,
                          std::optional<uint64_t> seed, OptionName typed);
void refuse_without_beams(int beams, std::optional<double> length_penalty, std::optional<EarlyStopping>,
                          OptionName typed);

}  // namespace poslab
