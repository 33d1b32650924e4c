// Observers of ops: cancellation (core/stop.h), POSLAB_DEBUG (core/debug.h), a TapeWatch, and a warning about a tape
// that only grows. record() calls observe_forward, backward() observe_backward; without an active observer each call is
// a few tests of flags.
#pragma once
#include <vector>

#include "autograd/tape.h"
#include "core/debug.h"
#include "core/stop.h"

namespace poslab {

// While one lives, its functions are called for every op that this thread records, and before and after the op's
// backward function. If TapeWatches are nested, only the innermost is called.
class TapeWatch {
 public:
  TapeWatch();
  virtual ~TapeWatch();
  TapeWatch(const TapeWatch&) = delete;
  TapeWatch& operator=(const TapeWatch&) = delete;
  // Called when the op has run and is about to become number `at` of the tape, from 0. Absent inputs are empty tensors.
  virtual void after_forward(size_t at, const char* op, const std::vector<Tensor>& results,
                             const std::vector<Tensor>& inputs) = 0;
  // Called before and after the backward function of op number `at`, unless no gradient has reached the op.
  virtual void before_backward(size_t at) = 0;
  virtual void after_backward(size_t at) = 0;

 private:
  TapeWatch* const outer_;
};
inline thread_local TapeWatch* innermost_watch = nullptr;

constexpr size_t warned_length = 10'000;  // the length of a tape at which the warning is printed
inline bool is_observed() {
  return cancelled() || debug_level() > 0 || innermost_watch || tape_length() == warned_length;
}

// Calls the observers, and returns the op's backward function wrapped in calls to them. on_tape: whether the op will be
// recorded. Throws Stopped, and at POSLAB_DEBUG=4 Failure for a result with a NaN or infinity.
Backward observe(const char* op, const std::vector<Tensor>& results, Inputs, bool on_tape, Backward);

inline Backward observe_forward(const char* op, const Tensor& y, Inputs inputs, bool on_tape, Backward backward) {
  return is_observed() ? observe(op, {y}, inputs, on_tape, std::move(backward)) : std::move(backward);
}
inline Backward observe_forward(const char* op, const std::vector<Tensor>& ys, Inputs inputs, bool on_tape,
                                Backward backward) {
  return is_observed() ? observe(op, ys, inputs, on_tape, std::move(backward)) : std::move(backward);
}
// Called after the backward function of an op. Throws Stopped.
inline void observe_backward() {
  if (cancelled()) stop_if_requested();
}

}  // namespace poslab
