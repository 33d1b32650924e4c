// The artifacts of Ruoss et al. 2023 ("Randomized Positional Encodings Boost Length Generalization of Transformers"):
// their trials, and the measurements of trained models. python/poslab/papers/ruoss2023.py draws them.
#pragma once
#include "lab/papers/artifact.h"

namespace poslab::reproduce::ruoss2023 {

// The encodings of table 1, each with counted and with randomized positions.
inline const std::vector<std::string> schemes = {"sincos", "relative", "alibi", "rope", "learned"};
Trials of_table1(const Choices& defaults);  // all tasks x these, and none
Trials of_table3(const Choices&), of_table5(const Choices&), of_fig2(const Choices&), of_fig3(const Choices&),
    of_inside(const Choices&), of_code(const Choices&), of_claims(const Choices&);

// Artifact::measured: the size's pool of positions, the differences of paper and code, small tests in training,
// principal components, attention, and the coverage of positions.
Json usual(const Outcomes&, const Choices& defaults, const std::string& folder),
    choices(const Outcomes&, const Choices& defaults, const std::string& folder),
    curves(const Outcomes&, const Choices& defaults, const std::string& folder),
    clouds(const Outcomes&, const Choices& defaults, const std::string& folder),
    maps(const Outcomes&, const Choices& defaults, const std::string& folder),
    coverage(const Outcomes&, const Choices& defaults, const std::string& folder);

}  // namespace poslab::reproduce::ruoss2023
