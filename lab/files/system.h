// Calls that differ between operating systems. Linux is tested; the code for macOS compiles (tests/tools/macos.sh) but
// has never run.
#pragma once
#include <filesystem>
#include <string>

namespace poslab {

// The path of this program, to run it again: on Linux the same file, even if a build has replaced it. Throws Failure.
std::string this_program();
std::filesystem::path path_of_this_program();  // the path of its file

// An open file without a name, in memory where the system allows it; execv() closes it. Throws Failure.
int nameless_file();

// If the parent process dies, even by kill -9, this one gets the signal. On macOS it continues.
void get_signal_after_parent(int signal);

}  // namespace poslab
