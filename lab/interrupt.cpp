#include "lab/interrupt.h"

#include <csignal>

namespace poslab {
namespace {
volatile std::sig_atomic_t caught = 0;
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { caught = signal; };
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  for (int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
}

int caught_signal() { return caught; }

}  // namespace poslab
