// This program as a process of its own: a trial that crashes takes nothing with it.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace poslab::sweep {

// Runs `poslab WORDS...` with both outputs in the file `log` and the open file `kept` left open in it. If this process
// dies, even by kill -9, the child gets SIGUSR1. Throws Failure.
pid_t start_poslab(const std::vector<std::string>& words, const std::string& log, int kept);

struct End {
  int status;  // 0 .. 128
  int signal;  // 0, or by which signal it ended, or said (128 + signal) that it was stopped
};
std::optional<End> ended(pid_t child);  // empty: it still runs

std::string last_line(const std::string& path);        // of a log, not counting empty ones; "" if there is none
std::string why_failed(End, const std::string& log);   // what the program said, or how it ended and after what

}  // namespace poslab::sweep
