// The tape is a vector of (op name, results, backward). Recording order is already a topological order, so backward()
// walks it from the end to the start and clears it. There is no graph to traverse.
#pragma once
#include <array>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/tensor.h"

namespace poslab {

using Backward = std::function<void(const real* dy)>;   // dy: d loss / d y, same shape as y

// A tensor as record() is given it, {x, w, b}: it is looked at and not copied.
struct Input {
  const Tensor& x;
  Input(const Tensor& tensor) : x(tensor) {}
};
using Inputs = std::initializer_list<Input>;

// Called by every op with its result, its inputs and its derivative. Keeps them only if an input requires a gradient,
// and then so does the result, which it returns.
Tensor record(const char* op, Tensor y, Inputs, Backward);

// The same for an op with several results. dy[i] is d loss / d ys[i], or null where nothing has flowed into that
// result; if nothing has flowed into any, backward is not called.
using BackwardOfSeveral = std::function<void(std::span<const real* const> dy)>;
std::vector<Tensor> record(const char* op, std::vector<Tensor> ys, Inputs, BackwardOfSeveral);

void collect_accumulators(std::initializer_list<const Tensor*> inputs, Accumulator* sums);

// Where one kernel adds the gradients of several inputs. It may write them in any order, so where two inputs are one
// tensor the sum is cleared first and both add.
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
bool on_tape(const Tensor&);   // whether this thread's tape holds the op that computed it
void clear_tape();   // forget a forward pass that will have no backward

}  // namespace poslab
