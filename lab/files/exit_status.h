// The exit status of a program by what ended its work, or that of a trial which a process of its own would have had.
#pragma once
#include <functional>
#include <string>

namespace poslab {

// 0 when work() returns. An exception goes to say() as one line (lab/files/printable.h), and gives 2 for BadInput,
// 128 + the signal for Interrupted (lab/files/interrupt.h) and Stopped (core/stop.h), and 1 for all else.
int exit_status(const std::function<void()>& work, const std::function<void(const std::string&)>& say);

}  // namespace poslab
