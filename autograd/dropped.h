// What backward() or clear_tape() has taken off the tape leaves results behind whose op is gone: a gradient that flows
// into one ends there, and is added to what an earlier pass left. So it does where a result is another thread's, whose
// op is on the tape of that thread. So an op that reads one has no backward function.
#pragma once
#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "autograd/tape_piece.h"
#include "core/error.h"

namespace poslab {

// For Tensor::made_on: no op made it, or one that is on no tape any more; else the number of a thread's tape.
constexpr int of_no_op = 0, dropped = -1;
inline int this_tape() {
  static std::atomic<int> threads = 0;
  static thread_local const int number = ++threads;
  return number;
}

inline void drop_ops(const std::vector<TapeStep>& steps) {
  for (const TapeStep& s : steps) {
    s.y.made_on(dropped);
    for (const Tensor& y : s.results) y.made_on(dropped);
  }
}

// Throws BadInput where a result has its op on no tape any more, or on that of another thread. op: which reads the
// result; null where it is the loss itself.
inline void must_be_here(int made_on, const char* op) {
  if (made_on == of_no_op || made_on == this_tape()) return;
  const std::string what = op ? fmt::format("{} reads a result", op) : "the loss is a result",
                    or_cut = op ? ", or detach() it" : "";
  if (made_on == dropped)
    bad_input(
        "backward: {} of a pass that has had its backward(), which dropped the op that made it; compute it anew{}",
        what, or_cut);
  bad_input("backward: {} of another thread, which has a tape of its own; compute it on this one{}", what, or_cut);
}

// `backward`; or, where an input has its op elsewhere, what throws BadInput when backward() comes to it.
inline Backward unless_dropped(const char* op, Inputs inputs, Backward backward) {
  for (const Input in : inputs) {
    const int tape = in.x.requires_grad() ? in.x.made_on() : of_no_op;
    if (tape != of_no_op && tape != this_tape()) return [op, tape](const real*) { must_be_here(tape, op); };
  }
  return backward;
}

// Clears this thread's tape at its end, which an exception may be.
struct ClearedTape {
  ClearedTape() { drop_ops(tape); }
  ~ClearedTape() { tape.clear(); }
};

}  // namespace poslab
