// What backward() or clear_tape() has taken off the tape leaves results behind whose op is gone: a gradient that flows
// into one ends there, and is added to what an earlier pass left. So an op that reads one has no backward function.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "autograd/tape_piece.h"
#include "core/error.h"

namespace poslab {

inline void drop_ops(const std::vector<TapeStep>& steps) {
  for (const TapeStep& s : steps) {
    s.y.drop_op();
    for (const Tensor& y : s.results) y.drop_op();
  }
}

// `backward`; or, where an input has lost its op, what throws BadInput when backward() comes to it.
inline Backward unless_dropped(const char* op, Inputs inputs, Backward backward) {
  const auto lost = [](Input in) { return in.x.requires_grad() && in.x.lost_op(); };
  if (std::none_of(inputs.begin(), inputs.end(), lost)) return backward;
  return [op](const real*) {
    bad_input("backward: {} reads a result of a pass that has had its backward(), which dropped the op that made it; "
              "compute it anew, or detach() it", op);
  };
}

}  // namespace poslab
