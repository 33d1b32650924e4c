// Files written atomically, and errors that name the file and the reason.
#pragma once
#include <string>

namespace poslab {

std::string read_file(const std::string& path);  // throws Failure
// Writes PATH.partial, has the disk confirm it, renames it to PATH. Throws Failure and leaves an old PATH as it was.
void write_file(const std::string& path, const std::string& bytes);
void write_all(int file, const std::string& bytes, const std::string& path);  // to an open file; throws Failure
void confirm(int file, const std::string& path);                              // fsync; throws Failure

}  // namespace poslab
