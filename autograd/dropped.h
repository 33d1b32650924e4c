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

// `backward`; or, where an input has its op elsewhere, what throws BadInput when backward() comes to it.
inline Backward unless_dropped(const char* op, Inputs inputs, Backward backward) {
  for (const Input in : inputs) {
    const int tape = in.x.requires_grad() ? in.x.made_on() : of_no_op;
    if (tape == of_no_op || tape == this_tape()) continue;
    return [op, tape](const real*) {
      if (tape == dropped)
        bad_input(
            "backward: {} reads a result of a pass that has had its backward(), which dropped the op that made "
            "it; compute it anew, or detach() it",
            op);
      bad_input(
          "backward: {} reads a result of another thread, which has a tape of its own; compute it on this one, "
          "or detach() it",
          op);
    };
  }
  return backward;
}

}  // namespace poslab
