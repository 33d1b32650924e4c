// Schemes made of schemes: choose_encoding (encodings/encoding.h) reads their spelling.
#pragma once
#include "encodings/encoding.h"

namespace poslab {

ModelShape group(ModelShape, int heads);            // of so many of its heads
bool composed_spelling(const std::string& text);    // "rope|none"

}  // namespace poslab
