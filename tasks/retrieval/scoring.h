// How the benchmarks decide whether what a model says answers a question (spec C.2).
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace poslab {

// The first and the last run of digits in a text, without zeros in front; absent if there is none. A comma or a point
// ends a run: "1,234" has 1 and 234.
std::optional<std::string> first_integer(const std::string&);
std::optional<std::string> last_integer(const std::string&);

// As SQuAD compares answers (Rajpurkar et al. 2016): in lower case, without punctuation, without the words a, an and
// the, with single spaces. Bytes beyond ASCII stay as they are.
std::string normalized(const std::string&);
// Best-subspan exact match (Liu et al. 2023): whether one of the answers, normalized, is a part of what is said. An
// answer of which nothing is left is never one.
bool contains_answer(const std::string& said, const std::vector<std::string>& answers);

}  // namespace poslab
