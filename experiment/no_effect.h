// Options that change nothing under the other choices of a run, as a resampling of positions that are not random.
#pragma once
#include "experiment/run_spec.h"

namespace poslab {

// Throws BadInput for the first of these options that is away from its default and changes nothing in a run of these
// choices, which fit together. typed: the user's options for this run, without presets and files.
void refuse_without_effect(const RunSpec&, const Settings& typed);

// Whether a position that is larger by one, at every token, leaves all logits as they are, to the bit.
bool reads_differences_alone(const Chosen<Scheme>&);

// The same of an encoding or a sampler of a model that has no RunSpec: for parts that none of its layers takes.
void refuse_unreached_parts(const Chosen<Scheme>&, int layers);
void refuse_unreached_parts(const Chosen<Sampler>&, int layers);

}  // namespace poslab
