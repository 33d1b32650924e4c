// What a ranking says in sentences, all from its numbers.
#pragma once
#include "lab/papers/compare/ranking.h"

namespace poslab::compare {

std::vector<std::string> sentences(const Ranking&);                            // what came out
std::vector<std::string> remarks(const Ranking&, const reproduce::Outcomes&);  // how, and what it does not say

}  // namespace poslab::compare
