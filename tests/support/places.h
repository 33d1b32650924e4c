// Paths of this build. Only places.cpp is compiled with them, so a compiler cache can serve every checkout.
#pragma once
#include <string>

namespace poslab::test {

extern const char* const source_folder;   // the top of the repository
extern const char* const program;         // poslab, built beside the tests
extern const char* const compiler;        // the compiler that made this build

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace poslab::test
