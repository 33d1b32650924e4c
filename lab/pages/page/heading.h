// What a run has learned, as the head of a page says it.
#pragma once
#include <string>

#include "core/choices.h"

namespace poslab {

// "Reverse String" of a task; of a text, where it lies; else as the option says it.
std::string heading_of(const std::string& folder, const Choices&);

}  // namespace poslab
