#include "lab/files/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "core/stop.h"

namespace poslab {
namespace {
std::atomic<int> caught = 0;      // set by a handler and read by all threads
constexpr unsigned patience = 1;  // seconds for the current step or test to end by itself
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { caught = signal, ::alarm(patience); };
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  for (int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
  action.sa_flags = SA_RESTART;  // a closed terminal may send it twice, from the kernel and the shell
  struct sigaction before {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // it is ignored under nohup
  action.sa_handler = [](int) { stop_requested = true; };
  sigaction(SIGALRM, &action, nullptr);
}

int caught_signal() { return caught; }

void ask_to_stop(int signal) {
  if (caught) stop_requested = true;
  caught = signal;
}
void forget_stop() { caught = 0, stop_requested = false; }

}  // namespace poslab
