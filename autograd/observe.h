// Observers of ops: cancellation (core/stop.h), POSLAB_DEBUG (core/debug.h), a TapeWatch, and a warning of a
// tape that only grows. record() calls observe_forward, backward() observe_backward; while nothing is armed each of
// them is a few tests of flags.
#pragma once
#include <vector>

#include "autograd/tape.h"
#include "core/debug.h"
#include "core/stop.h"

namespace poslab {

// While one lives, its functions are called for every op that this thread records, and around its backward function.
// Of nested ones only the innermost is called.
class TapeWatch {
 public:
  TapeWatch();
  virtual ~TapeWatch();
  TapeWatch(const TapeWatch&) = delete;
  TapeWatch& operator=(const TapeWatch&) = delete;
  // The op has run; the tape has `before` others. Absent inputs are empty tensors.
  virtual void recorded(size_t before, const char* op, const std::vector<Tensor>& results,
                        const std::vector<Tensor>& inputs) = 0;
  // Around the backward function of that op; not for an op that no gradient has reached.
  virtual void before_backward(size_t at) = 0;
  virtual void after_backward(size_t at) = 0;

 private:
  TapeWatch* const outer_;
};
inline thread_local TapeWatch* innermost_watch = nullptr;

constexpr size_t warned_length = 10'000;  // of a tape
inline bool observed() {
  return cancelled() || debug_level() > 0 || innermost_watch || tape_length() == warned_length;
}

// The op's backward function, wrapped in calls of the observers. on_tape: whether the op will be recorded.
// Throws Stopped; Failure for a result that has a NaN, at POSLAB_DEBUG=4.
Backward observe(const char* op, const std::vector<Tensor>& results, Inputs, bool on_tape, Backward);

inline Backward observe_forward(const char* op, const Tensor& y, Inputs inputs, bool on_tape, Backward backward) {
  return observed() ? observe(op, {y}, inputs, on_tape, std::move(backward)) : std::move(backward);
}
inline Backward observe_forward(const char* op, const std::vector<Tensor>& ys, Inputs inputs, bool on_tape,
                                Backward backward) {
  return observed() ? observe(op, ys, inputs, on_tape, std::move(backward)) : std::move(backward);
}
// After the backward function of an op. Throws Stopped.
inline void observe_backward() {
  if (cancelled()) stop_if_requested();
}

}  // namespace poslab
