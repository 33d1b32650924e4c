// Ctrl-C and `kill` ask a loop to stop at a place where nothing is lost.
#pragma once
#include <stdexcept>
#include <string>

namespace poslab {

// From here on SIGINT and SIGTERM are remembered instead of ending the program; a second one ends it at once.
void catch_signals();
int caught_signal();  // 0: none yet

struct Interrupted : std::runtime_error {
  Interrupted(int signal, const std::string& text) : std::runtime_error(text), signal(signal) {}
  int signal;  // the exit status is 128 + signal: 130 for Ctrl-C
};

}  // namespace poslab
