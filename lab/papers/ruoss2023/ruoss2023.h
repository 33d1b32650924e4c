// The artifacts of Ruoss et al. 2023 ("Randomized Positional Encodings Boost Length Generalization of Transformers"):
// measurements of trained models, and trials that artifacts.toml does not list. python/poslab/papers/ruoss2023.py draws
// them.
#pragma once
#include "lab/papers/artifact.h"

namespace poslab::reproduce::ruoss2023 {

Trials of_code(const Choices& defaults);  // with a trial for each difference between paper and code

// Artifact::measured: the size's pool of positions, the differences of paper and code, small tests in training,
// principal components, attention, and the coverage of positions.
Json usual(const Outcomes&, const Choices&defaults, const std::string&folder),
    choices(const Outcomes&, const Choices&defaults, const std::string&folder),
    curves(const Outcomes&, const Choices&defaults, const std::string&folder),
    clouds(const Outcomes&, const Choices&defaults, const std::string&folder),
    maps(const Outcomes&, const Choices&defaults, const std::string&folder),
    coverage(const Outcomes&, const Choices&defaults, const std::string&folder);

}  // namespace poslab::reproduce::ruoss2023
