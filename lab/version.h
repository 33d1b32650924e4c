// The version of the program and the machine it runs on, as every result.json records them.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace poslab {

// version, commit, scalar, isa, threads, cuda: a name and a word each
std::vector<std::pair<std::string, std::string>> about();
std::string version_line();  // "poslab 0.1.0 (commit 0123456789ab)"

}  // namespace poslab
