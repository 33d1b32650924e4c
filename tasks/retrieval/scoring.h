// The benchmarks' rules for whether a model's text answers a question (spec C.2).
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace poslab {

// The first and the last run of digits in a text, without leading zeros; absent without digits. A comma or a point
// ends a run: "1,234" has 1 and 234.
std::optional<std::string> first_integer(const std::string&);
std::optional<std::string> last_integer(const std::string&);

// As SQuAD compares answers (Rajpurkar et al. 2016): in lower case, without punctuation, without the words a, an and
// the, with single spaces. Bytes beyond ASCII stay as they are.
std::string normalized(const std::string&);
// Best-subspan exact match (Liu et al. 2023): whether the normalized text contains one of the normalized answers. An
// answer that normalizes to an empty string never matches.
bool contains_answer(const std::string& said, const std::vector<std::string>& answers);

}  // namespace poslab
