// A pass lasts from one clearing of a thread's tape to the next. A result records which pass made it. An op of another
// pass or thread is not on this tape, so its result's gradient would be lost: the result is stale here, and backward()
// refuses an op that reads it.
#pragma once
#include <algorithm>
#include <atomic>
#include <string>

#include "autograd/tape_piece.h"
#include "core/error.h"
#include "core/tensor_storage.h"

namespace poslab {

struct MadeIn {   // the pass in which y was made
  static uint64_t& of(const Tensor& y) { return y.storage_->made_in; }  // 0: a leaf
};

inline uint64_t next_pass() {
  static std::atomic<uint64_t> passes = 0;  // of all threads
  return ++passes;
}
inline thread_local uint64_t current_pass = next_pass();

inline const Tensor& mark_pass(const Tensor& y) { return MadeIn::of(y) = current_pass, y; }
inline bool is_stale(const Tensor& x) { return x.requires_grad() && MadeIn::of(x) && MadeIn::of(x) != current_pass; }

[[noreturn]] inline void refuse_stale(const std::string& what) {
  bad_input("backward: {} of an earlier pass or of another thread, whose ops are not on this tape; compute it again "
            "here, or detach() it",
            what);
}

// Returns `backward`, or a function that throws BadInput if an input is stale and ops are recorded.
inline Backward with_stale_check(const char* op, Inputs inputs, Backward backward) {
  if (!recording() || std::none_of(inputs.begin(), inputs.end(), [](Input in) { return is_stale(in.x); }))
    return backward;
  return [op](const real*) { refuse_stale(std::string(op) + " reads a result"); };
}

// Clears the tape when its scope ends, also if an exception ends it.
struct EndOfPass {
  EndOfPass() { current_pass = next_pass(); }
  ~EndOfPass() { tape.clear(); }
};

}  // namespace poslab
