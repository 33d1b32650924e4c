// The subject of a run's training, for the head of a page.
#pragma once
#include <string>

#include "core/choices.h"

namespace poslab {

// "Reverse String" of a task; of a text, where it lies; else as the option says it.
std::string heading_of(const std::string& folder, const Choices&);

}  // namespace poslab
