// The tape is a vector of (op name, result, backward). Recording order is already a topological order, so backward()
// walks it from the end to the start and clears it. There is no graph to traverse.
#pragma once
#include <array>
#include <functional>
#include <initializer_list>

#include "core/tensor.h"

namespace poslab {

using Backward = std::function<void(const real* dy)>;   // dy: d loss / d y, same shape as y

void collect_accumulators(std::initializer_list<const Tensor*> inputs, Accumulator* sums);

// Called by every op with its result, its inputs and its derivative. Keeps them only if an input wants a gradient.
Tensor record(const char* op, Tensor y, std::initializer_list<Tensor> inputs, Backward);

// Where one kernel adds the gradients of several inputs. It may write them in any order, so where two inputs are one tensor
// the sum is cleared first and both add.
template <class... Inputs>
std::array<Accumulator, sizeof...(Inputs)> grad_accumulators(const Inputs&... inputs) {
  std::array<Accumulator, sizeof...(Inputs)> sums;
  collect_accumulators({&inputs...}, sums.data());
  return sums;
}

// Fills the gradients of everything that the scalar `loss` was computed from, and clears the tape.
void backward(const Tensor& loss);

// Nothing is recorded on this thread while one is alive.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;
};
bool recording();
size_t tape_length();
void clear_tape();   // forget a forward pass that will have no backward

}  // namespace poslab
