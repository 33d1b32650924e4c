// Finds options of a scheme, a sampler or a temperature that change no result of a model with the run's heads.
#pragma once
#include <string>
#include <vector>

#include "experiment/run_spec.h"

namespace poslab {

// "encoding = yarn:beta_fast=64: beta_fast = 64 changes nothing here, ...": a line for each such option of the user's
// spelling. A small model with random weights computes the logits of random tokens with each option and without it, in
// training and at test. Spellings of several schemes or samplers, and models that take longer than a moment, have no
// lines.
std::vector<std::string> options_without_effect(const RunSpec&);

}  // namespace poslab
