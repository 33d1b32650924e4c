// Cancellation: after the signal handler of Ctrl-C has set a flag, a step or a test of any size ends within a moment,
// without a result.
#pragma once
#include <atomic>
#include <stdexcept>

namespace poslab {

struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Set by a signal handler. Only a caller that goes on after a stop clears it, as the Python module does.
inline std::atomic<bool> stop_requested = false;
void stop_if_requested();                       // throws Stopped; called between two ops, and in long loops

// While one lives, a requested stop makes kernels skip their remaining pieces (core/platform/parallel.cpp), because
// their results are no longer needed. complete() must be called before anything reads a result.
class Stoppable {
 public:
  explicit Stoppable(bool enabled);   // false: nothing is skipped
  ~Stoppable();
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;
  void complete();    // throws Stopped if a piece may have been skipped

 private:
  bool enabled_;
};
inline std::atomic<int> stoppable = 0;   // how many enabled guards live
inline bool cancelled() {                // whether kernels may skip work: a stop was requested, and a guard lives
  return stop_requested.load(std::memory_order_relaxed) && stoppable.load(std::memory_order_relaxed) > 0;
}

}  // namespace poslab
