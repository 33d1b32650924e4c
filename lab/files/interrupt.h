// Signals (Ctrl-C, `kill`) make a loop stop at a point where nothing is lost.
#pragma once
#include <stdexcept>
#include <string>

namespace poslab {

// From here on SIGINT, SIGTERM and SIGUSR1 are recorded instead of ending the program; a second signal of the same kind
// ends it at once. So is SIGHUP, of a terminal that is closed, unless it is ignored; a second one does nothing. What
// has not come to its end a second later is stopped in its middle (core/stop.h). A terminal and Slurm send the first
// two to all processes of a sweep; the third is for a worker to send to its trials.
void catch_signals();
int caught_signal();  // 0: none yet
// The same without a signal, for a caller that has its own way to hear of one: at first the loop stops at such a point;
// asked again, in the middle. Afterwards forget_stop(), if it goes on.
void ask_to_stop(int signal);
void forget_stop();

struct Interrupted : std::runtime_error {
  Interrupted(int signal, const std::string& text) : std::runtime_error(text), signal(signal) {}
  int signal;  // the exit status is 128 + signal: 130 for Ctrl-C
};

}  // namespace poslab
