// Turns the exception that ended a program, or one trial of several in a process, into an exit status.
#pragma once
#include <functional>
#include <string>

namespace poslab {

// 0 when work() returns. An exception is passed to say() as one line (lab/files/printable.h), and gives 2 for BadInput,
// 128 + the signal for Interrupted (lab/files/interrupt.h) and Stopped (core/stop.h), and 1 otherwise.
int exit_status(const std::function<void()>& work, const std::function<void(const std::string&)>& say);

}  // namespace poslab
