// A part of a tape that somebody else keeps, and what a tape is made of.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "autograd/tape.h"

namespace poslab {

struct TapeStep {
  Tensor y;
  Backward backward;
  std::vector<Tensor> results;  // of an op with several: all of them, y being the first
  bool reached() const {        // by a gradient
    return y.has_grad() || std::any_of(results.begin(), results.end(), [](const Tensor& x) { return x.has_grad(); });
  }
};
extern thread_local std::vector<TapeStep> tape;     // of this thread

// What this thread has recorded from some length of its tape on, taken off it: for a caller who has a graph of his own,
// such as PyTorch, and goes backward through this part of it later, on any thread, and more than once.
class TapePiece {
 public:
  explicit TapePiece(size_t from);  // tape_length() before it began
  // Adds to the gradients of all that `y` was computed from here; dy: d loss / d y, of its shape. What was computed
  // between gets a new gradient each time.
  void backward(const Tensor& y, const Tensor& dy) const;

 private:
  std::shared_ptr<const std::vector<TapeStep>> steps_;
};

}  // namespace poslab
