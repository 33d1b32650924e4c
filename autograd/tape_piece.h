// The entries of a tape, and a part of a tape that its caller keeps.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "autograd/tape.h"

namespace poslab {

struct TapeStep {               // a recorded op
  Tensor y;
  Backward backward;
  std::vector<Tensor> results;  // all results of an op with several, y first
  bool reached() const {        // whether a gradient has flowed into a result
    return y.has_grad() || std::any_of(results.begin(), results.end(), [](const Tensor& x) { return x.has_grad(); });
  }
};
extern thread_local std::vector<TapeStep> tape;     // of this thread
bool needed(Inputs);                                // whether an op that reads these goes on the tape
inline const real* gradient(const Tensor& y) { return y.has_grad() ? y.grad_accumulator().at : nullptr; }

// The steps that this thread has recorded since its tape had a given length, taken off the tape: for a caller with a
// graph of its own, such as PyTorch, that runs backward through these steps later, on any thread, and more than once.
class TapePiece {
 public:
  explicit TapePiece(size_t from);  // from: tape_length() before the first of these steps
  // Adds to the gradients of the inputs that `y` was computed from. dy: d loss / d y, on the CPU; BadInput unless it
  // has the shape of y. The gradients of the steps' results are cleared first.
  void backward(const Tensor& y, const Tensor& dy) const;

 private:
  std::shared_ptr<const std::vector<TapeStep>> steps_;
};

}  // namespace poslab
