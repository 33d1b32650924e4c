// Which program this is and what it runs on; goes into every result.json.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace poslab {

// version, commit, scalar, isa, threads, cuda: a name and a word each
std::vector<std::pair<std::string, std::string>> about();

}  // namespace poslab
