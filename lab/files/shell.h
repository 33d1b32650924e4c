// Printed words: quoted, so that a command can be pasted into a shell, and counted.
#pragma once
#include <string>

namespace poslab {

std::string shell_word(const std::string& text);  // quoted only where a shell needs it
std::string path_as_word(const std::string& path);  // so that a name like -runs is not an option: "./-runs"
std::string shell_path(const std::string& path);    // both

std::string counted(size_t n, const std::string& thing);  // "1 trial", "2 trials"

}  // namespace poslab
