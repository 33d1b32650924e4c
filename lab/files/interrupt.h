// Signals (Ctrl-C, `kill`) make a loop stop at a point where nothing is lost.
#pragma once
#include <stdexcept>
#include <string>

namespace poslab {

// From this call on SIGINT, SIGTERM and SIGUSR1 are recorded instead of ending the program; a second signal of the same
// kind ends it at once. SIGHUP, from a closed terminal, is also recorded, unless it is ignored; a second one does
// nothing. A step or test that has not ended a second later is interrupted (core/stop.h). A terminal and Slurm send
// SIGINT and SIGTERM to all processes of a sweep; a worker sends SIGUSR1 to its trials.
void catch_signals();
int caught_signal();  // 0: none yet
// The same for a caller that handles signals itself: the first call stops the loop at a safe point, a second call at
// once. To continue afterwards, call forget_stop().
void ask_to_stop(int signal);
void forget_stop();

struct Interrupted : std::runtime_error {
  Interrupted(int signal, const std::string& text) : std::runtime_error(text), signal(signal) {}
  int signal;  // the exit status is 128 + signal: 130 for Ctrl-C
};

}  // namespace poslab
