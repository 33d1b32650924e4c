// A call that takes long, on a thread of its own: Python's other threads go on, and Ctrl-C is heard. One at a time, as
// each uses all cores and a stop is for whatever runs.
#pragma once
#include <chrono>
#include <csignal>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include "lab/files/interrupt.h"
#include "python/convert.h"

namespace poslab::python {

inline std::mutex& long_calls() {
  static std::mutex one;
  return one;
}

// Whether this thread does some of the work of one, so that another one would wait forever.
inline bool& within_long_call() {
  static thread_local bool within = false;
  return within;
}

// Whether Python has heard a signal whose handler raised an error; it becomes `error`.
inline bool interrupted(std::optional<nb::python_error>& error) {
  const nb::gil_scoped_acquire hold;
  if (PyErr_CheckSignals() == 0) return false;
  nb::python_error raised;
  if (!error) error.emplace(std::move(raised));
  return true;
}

// What work() gives. A signal stops it between two steps, or a second later in the middle of one (core/stop.h); what it
// then throws is thrown, or what the handler of the signal raised if that is another error than KeyboardInterrupt.
template <class Work>
auto long_call(const Work& work) {
  if (within_long_call())
    bad_input("a training or a check runs, and this is called from inside it; call it before or afterwards");
  constexpr std::chrono::milliseconds look(50), patience(1000);
  std::optional<nb::python_error> error;
  decltype(work()) result;
  {
    const nb::gil_scoped_release others_may_run;
    std::unique_lock alone(long_calls(), std::defer_lock);
    while (!alone.try_lock()) {
      std::this_thread::sleep_for(look);
      if (interrupted(error)) break;
    }
    if (alone) {
      std::future<decltype(work())> running = std::async(std::launch::async, [&work] {
        within_long_call() = true;
        return work();
      });
      auto asked = std::chrono::steady_clock::time_point::max();
      while (running.wait_for(look) != std::future_status::ready) {
        const auto now = std::chrono::steady_clock::now();
        if (interrupted(error) || (error && now - asked > patience)) ask_to_stop(SIGINT), asked = now;
      }
      running.wait();      // joins: wait_for does not if the work ended before, and a thread that ends may want the GIL
      forget_stop();
      const nb::gil_scoped_acquire hold;
      try {
        result = running.get();
      } catch (const Interrupted&) {
        if (!error || error->matches(PyExc_KeyboardInterrupt)) throw;
      }
    }
  }
  if (error) throw std::move(*error);
  return result;
}

}  // namespace poslab::python
