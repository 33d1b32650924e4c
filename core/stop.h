// Stopping in the middle: whoever catches Ctrl-C asks for it, and a step or a test of any size ends within a moment,
// without a result.
#pragma once
#include <atomic>
#include <stdexcept>

namespace poslab {

struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A signal handler may set it. Only a caller that goes on after a stop takes it back, as the Python module does.
inline std::atomic<bool> stop_wanted = false;
void stop_if_wanted();                          // throws Stopped; between two ops, and in long loops

// What is computed while one lives is of no use once a stop is wanted: kernels then leave out the pieces that are left
// (core/parallel.cpp). complete() comes before anything reads the result.
class Stoppable {
 public:
  explicit Stoppable(bool may);
  ~Stoppable();
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;
  void complete();    // throws Stopped if a piece may have been left out

 private:
  bool may_;
};
inline std::atomic<int> stoppable = 0;
inline bool leaving_out() {
  return stop_wanted.load(std::memory_order_relaxed) && stoppable.load(std::memory_order_relaxed) > 0;
}

}  // namespace poslab
