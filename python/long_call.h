// A long call on a separate thread: Python's other threads continue, and Ctrl-C works. Only one call runs at a time, as
// each uses all cores, and a stop would apply to all running calls.
#pragma once
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "core/platform/parallel.h"
#include "core/stop.h"
#include "lab/files/interrupt.h"
#include "python/convert.h"

namespace poslab::python {

struct LongCalls {
  std::mutex running;          // held by the running call
  std::atomic<int> begun = 0;  // calls running or waiting for their turn
  std::atomic<bool> python_ends = false;
};
inline LongCalls& all_long_calls() {
  static LongCalls all;
  return all;
}
// A forked child has none of the worker threads, nor their resources. Called once, when the module is loaded.
inline void survive_forks() {
  pthread_atfork(before_fork, [] { after_fork(false); },
                 [] { after_fork(true), new (&all_long_calls()) LongCalls, forget_stop(); });
}
inline std::mutex& long_calls() { return all_long_calls().running; }

// Whether this thread works for a long call, in which case a second call would wait forever.
inline bool& within_long_call() {
  static thread_local bool within = false;
  return within;
}

// Whether a signal handler of Python raised an error, which `error` then holds.
inline bool interrupted(std::optional<nb::python_error>& error) {
  const nb::gil_scoped_acquire hold;
  if (PyErr_CheckSignals() == 0) return false;
  nb::python_error raised;
  if (!error) error.emplace(std::move(raised));
  return true;
}

// Lives from the release of the GIL until it is taken back, which is impossible once Python has ended.
class LongCallBegun {
 public:
  LongCallBegun() { ++all_long_calls().begun; }
  ~LongCallBegun() { --all_long_calls().begun; }
  LongCallBegun(const LongCallBegun&) = delete;
  LongCallBegun& operator=(const LongCallBegun&) = delete;
};

// Before Python ends: stops the calls of daemon threads, like Ctrl-C, and waits for them.
inline void end_long_calls() {
  LongCalls& all = all_long_calls();
  all.python_ends = true;
  const nb::gil_scoped_release others_may_end;
  for (int looks = 0; all.begun > 0; ++looks) {
    if (looks % 20 == 0) ask_to_stop(SIGINT);  // once more each second
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

// The result of work(). A signal stops it between two steps, or a second later in the middle of one (core/stop.h); its
// exception is then thrown, or the signal handler's error unless it is KeyboardInterrupt.
template <class Work>
auto long_call(const Work& work) {
  if (within_long_call())
    bad_input("this was called from inside a training run or a check; call it before or afterwards");
  if (all_long_calls().python_ends) bad_input("Python is shutting down; train or check before that");
  const LongCallBegun begun;
  constexpr std::chrono::milliseconds look(50), patience(1000);
  std::optional<nb::python_error> error;
  bool ended = false;
  decltype(work()) result;
  {
    const nb::gil_scoped_release others_may_run;
    std::unique_lock alone(long_calls(), std::defer_lock);
    while (!alone.try_lock()) {
      std::this_thread::sleep_for(look);
      ended = all_long_calls().python_ends;
      if (interrupted(error) || ended) break;
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
      // joins the thread, which wait_for does not do, without the GIL, which an ending thread may need
      running.wait();
      forget_stop();
      const nb::gil_scoped_acquire hold;
      try {
        result = running.get();
      } catch (const Interrupted&) {
        ended = all_long_calls().python_ends;
        if (!ended && (!error || error->matches(PyExc_KeyboardInterrupt))) throw;
      } catch (const Stopped&) {
        ended = all_long_calls().python_ends;
        if (!ended) throw;
      }
    }
  }
  if (error) throw std::move(*error);
  if (!ended) return result;
  PyErr_SetNone(PyExc_SystemExit);  // in a thread, which then ends silently
  throw nb::python_error();
}

}  // namespace poslab::python
