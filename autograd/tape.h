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

// A tensor in record()'s list {x, w, b}: a reference, not a copy.
struct Input {
  const Tensor& x;
  Input(const Tensor& tensor) : x(tensor) {}
};
class Inputs {
 public:
  Inputs(std::initializer_list<Input> all) : all_(all.begin(), all.size()) {}
  Inputs(const std::vector<Input>& all) : all_(all) {}
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::span<const Input> all_;
};

// Every op calls it with its result, all tensors that it reads, and its derivative, and returns the result. If an input
// requires a gradient, so does the result, and the tape keeps them.
Tensor record(const char* op, Tensor y, Inputs, Backward);

// The same for an op with several results. dy[i] is d loss / d ys[i], or null where nothing has flowed into that
// result; if nothing has flowed into any, backward is not called.
using BackwardOfSeveral = std::function<void(std::span<const real* const> dy)>;
std::vector<Tensor> record(const char* op, std::vector<Tensor> ys, Inputs, BackwardOfSeveral);

// The same for an op whose result has no gradient: returns y, after the checks of POSLAB_DEBUG (core/debug.h).
Tensor without_gradient(const char* op, Tensor y, Inputs);

void collect_accumulators(std::initializer_list<const Tensor*> inputs, Accumulator* sums);

// Where one kernel adds the gradients of several inputs. It may write them in any order, so where two inputs are one
// tensor the sum is cleared first and both add.
template <class... Inputs>
std::array<Accumulator, sizeof...(Inputs)> grad_accumulators(const Inputs&... inputs) {
  std::array<Accumulator, sizeof...(Inputs)> sums;
  collect_accumulators({&inputs...}, sums.data());
  return sums;
}

// Fills the gradients of every tensor that the scalar `loss` was computed from, and clears the tape, even if an op
// throws on the way: Stopped, or BadInput where it reads a result of an earlier pass or another thread. Gradients are
// then incomplete; clear them. A loss that is refused at once, with BadInput, leaves the tape as it was.
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
void clear_tape();   // drops a forward pass that will have no backward pass

}  // namespace poslab
