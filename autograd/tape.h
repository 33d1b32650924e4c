// The tape: one vector per thread with the results and the backward function of each op. The order in which ops run is
// a topological order, so backward() walks the vector from its end to its start and clears it. There is no graph.
#pragma once
#include <array>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/tensor.h"

namespace poslab {

// Adds to the gradients of an op's inputs.   dy: d loss / d y, of the shape of y, on its device
using Backward = std::function<void(const real* dy)>;

struct Input {                       // a tensor in record()'s list {x, w, b}: a reference, not a copy
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

// Called by each op with its result, all tensors that it reads (absent ones too), and its derivative; returns the
// result. If an input requires a gradient, the result requires one too, and the op goes on the tape.
Tensor record(const char* op, Tensor y, Inputs, Backward);

// The same for an op with several results. dy[i] is d loss / d ys[i], or null where no gradient has flowed into that
// result; if none has flowed into any, backward is not called.
using BackwardOfSeveral = std::function<void(std::span<const real* const> dy)>;
std::vector<Tensor> record(const char* op, std::vector<Tensor> ys, Inputs, BackwardOfSeveral);

// For an op whose result never has a gradient: returns y. Nothing is recorded; POSLAB_DEBUG (core/debug.h) sees the op.
Tensor without_gradient(const char* op, Tensor y, Inputs);

void collect_accumulators(std::initializer_list<const Tensor*> inputs, Accumulator* sums);   // for the next function

// Accumulators for a kernel that gives the gradients of several inputs, in any order. Where two inputs are one tensor,
// its gradient is set to 0 first, and both add to it.
template <class... Tensors>
std::array<Accumulator, sizeof...(Tensors)> grad_accumulators(const Tensors&... inputs) {
  std::array<Accumulator, sizeof...(Tensors)> sums;
  collect_accumulators({&inputs...}, sums.data());
  return sums;
}

// Adds to the gradient of every tensor that the scalar `loss` was computed from, and clears the tape, even if an op
// throws on the way: Stopped, or BadInput where it reads a result of an earlier pass or another thread. Gradients are
// then incomplete; clear them. BadInput for the loss itself (its shape, no gradient) leaves the tape unchanged.
void backward(const Tensor& loss);

// Scope guard: while one lives, this thread records nothing.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;
};
bool recording();        // whether no NoGrad lives on this thread
size_t tape_length();    // number of ops on this thread's tape
void clear_tape();       // drops a forward pass that will have no backward pass

}  // namespace poslab
