// Descriptions of a task, a text and an encoding for pages, with the fields of `poslab explain`.
#pragma once
#include <string>
#include <vector>

#include "core/choices.h"
#include "lab/pages/page/document.h"

namespace poslab {

// A section of a page; null if it is empty. Each spelling is explained once; an unknown one, from a run of another
// version, is left out.
page::json about_section(const std::vector<std::string>& tasks, const std::vector<std::string>& encodings);

// The subject of a run's training: "Reverse String" for a task, the path of a text, else the option's value.
std::string heading_of(const std::string& folder, const Choices&);

}  // namespace poslab
