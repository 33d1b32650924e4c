// A task, a text and an encoding in words for pages: the same fields as `poslab explain` prints.
#pragma once
#include <string>
#include <vector>

#include "core/choices.h"
#include "lab/pages/page/document.h"

namespace poslab {

// A section of a page; null if there is nothing to say. Each spelling is explained once; one that this program does not
// know, of a run of another version, is left out.
page::json about_section(const std::vector<std::string>& tasks, const std::vector<std::string>& encodings);

// The subject of a run's training: "Reverse String" of a task; of a text, where it lies; else as the option says it.
std::string heading_of(const std::string& folder, const Choices&);

}  // namespace poslab
