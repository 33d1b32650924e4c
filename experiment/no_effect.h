// Options without effect under the other choices of a run, such as the resampling of positions that are not random.
#pragma once
#include <optional>

#include "experiment/run_spec.h"
#include "nn/generate.h"
#include "nn/t5_generate.h"

namespace poslab {

// Throws BadInput for the first option in `typed` that differs from its default and has no effect under this run's
// choices, which passed check(). typed: the user's options for this run, without presets and files.
void refuse_without_effect(const RunSpec&, const Settings& typed);

// Why an option changes nothing in such a run, with a remedy; "" if it has an effect.
std::string no_effect(const RunSpec&, const std::string& option);

int deepest_stack(const Choices&);          // layers of the deepest stack

// Whether all logits stay the same, to the bit, if every position grows by one.
bool reads_differences_alone(const Chosen<Scheme>&);

// For a model without a RunSpec: throws BadInput for parts of its encoding or sampler that none of its layers uses.
void refuse_unreached_parts(const Chosen<Scheme>&, int layers);
void refuse_unreached_parts(const Chosen<Sampler>&, int layers);

// Generation options without an effect. typed: how an option is spelled, "--top-k" or "top_k"; the other
// arguments are the user's values, absent if not given. Throw BadInput for a value other than the default.
using OptionName = std::string (*)(const std::string& option);
void refuse_without_draws(const TokenChoice&, std::optional<int> top_k, std::optional<double> top_p,
                          std::optional<uint64_t> seed, OptionName typed);
void refuse_without_beams(int beams, std::optional<double> length_penalty, std::optional<EarlyStopping>,
                          OptionName typed);

}  // namespace poslab
