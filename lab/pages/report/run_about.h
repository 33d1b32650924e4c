// A task and an encoding, described in words for pages: the same fields as `poslab explain` prints.
#pragma once
#include <string>
#include <vector>

#include "lab/pages/page/document.h"

namespace poslab {

// A section of a page; null if there is nothing to say. Each spelling is explained once; one that this program does not
// know, of a run of another version, is left out.
page::json about_section(const std::vector<std::string>& tasks, const std::vector<std::string>& encodings);

}  // namespace poslab
