// Did you mean: the entry of a list that is nearest to what was typed, or that other programs and papers call by it.
#pragma once
#include <string>
#include <vector>

namespace poslab {

// `unknown task "evn_pairs"; did you mean "even_pairs"? Known: even_pairs, ...`. A list of more than 20 is omitted
// where a nearest entry was found.
std::string unknown(const std::string& kind, const std::string& name, const std::vector<std::string>& known);

}  // namespace poslab
