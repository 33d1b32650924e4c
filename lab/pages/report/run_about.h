// A task and an encoding, described in words for pages: the same fields as `poslab explain` prints.
#pragma once
#include <string>
#include <vector>

namespace poslab {

// A section of a page. Each spelling is explained once; one that this program does not know, of a run of another
// version, is left out.
std::string about_section(const std::vector<std::string>& tasks, const std::vector<std::string>& encodings);

}  // namespace poslab
