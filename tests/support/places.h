// Where this build lies. Only places.cpp is compiled with these paths, so that a compiler cache serves every checkout.
#pragma once
#include <string>

namespace poslab::test {

extern const char* const source_folder;   // the repository's
extern const char* const program;         // poslab, as built beside the tests
extern const char* const compiler;        // that this build was made with

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace poslab::test
