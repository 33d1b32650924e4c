// Ops with several results, and kernels that give the gradients of several inputs (autograd/tape.h).
#include "autograd/observe.h"
#include "autograd/pass.h"
#include "core/backend.h"

namespace poslab {

std::vector<Tensor> record(const char* op, std::vector<Tensor> ys, Inputs inputs, BackwardOfSeveral backward) {
  if (!needed(inputs)) {
    observe_forward(op, ys, inputs, false, {});
    return ys;
  }
  const auto all = [ys, backward = std::move(backward)](const real*) {
    std::vector<const real*> dy;
    for (const Tensor& y : ys) dy.push_back(gradient(y));
    backward(dy);
  };
  Backward one = observe_forward(op, ys, inputs, true, with_stale_check(op, inputs, all));
  for (Tensor& y : ys) mark_pass(y.require_grad());
  tape.push_back({ys[0], std::move(one), ys});
  return ys;
}

void collect_accumulators(std::initializer_list<const Tensor*> inputs, Accumulator* sums) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = *inputs.begin()[i];
    sums[i] = x.grad_accumulator();
    for (size_t j = 0; sums[i] && j < i; ++j)
      if (sums[j].at == sums[i].at && sums[j].empty) {
        backend(x.device()).fill(sums[j].at, 0, x.size());
        sums[j].empty = false;
      }
  }
}

}  // namespace poslab
