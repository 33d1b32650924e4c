// Text for messages: commands quoted so that they can be pasted into a shell, and numbers of things.
#pragma once
#include <string>

namespace poslab {

std::string shell_word(const std::string& text);  // quoted only where a shell needs it
std::string path_as_word(const std::string& path);  // keeps a name like -runs from being an option: "./-runs"
std::string shell_path(const std::string& path);    // both

std::string counted(size_t n, const std::string& thing);  // "1 trial", "2 trials"

}  // namespace poslab
