#include "autograd/tape.h"

#include <vector>

#include "autograd/watch.h"
#include "core/backend.h"
#include "core/debug.h"
#include "core/error.h"

namespace poslab {
namespace {

struct Step {
  const char* op;
  Tensor y;
  Backward backward;
  std::vector<Tensor> inputs;   // kept only to be watched, POSLAB_DEBUG
};
thread_local std::vector<Step> tape;
thread_local int no_grad = 0;

}  // namespace

NoGrad::NoGrad() { ++no_grad; }
NoGrad::~NoGrad() { --no_grad; }
bool recording() { return no_grad == 0; }
size_t tape_length() { return tape.size(); }
void clear_tape() { tape.clear(); }

Tensor record(const char* op, Tensor y, std::initializer_list<Tensor> inputs, Backward backward) {
  const std::vector<Tensor> watched = debug_level() ? std::vector(inputs) : std::vector<Tensor>();
  if (debug_level()) watch_forward(op, y, watched);
  const bool wanted = std::any_of(inputs.begin(), inputs.end(), [](const Tensor& x) { return x.wants_grad(); });
  if (recording() && wanted) tape.push_back({op, y.want_grad(), std::move(backward), watched});
  return y;
}

void collect_sums(std::initializer_list<const Tensor*> inputs, Sum* sums) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = *inputs.begin()[i];
    sums[i] = x.grad_sum();
    for (size_t j = 0; sums[i] && j < i; ++j)
      if (sums[j].at == sums[i].at && sums[j].empty) {
        backend(x.device()).fill(sums[j].at, 0, x.size());
        sums[j].empty = false;
      }
  }
}

void backward(const Tensor& loss) {
  if (loss.size() != 1)
    bad_input("backward: the loss has shape {}; reduce it to one number, for example with sum_all",
              to_string(loss.shape()));
  if (!loss.wants_grad())
    bad_input("backward: the loss depends on nothing that wants a gradient; call want_grad() on a leaf first");
  backend(loss.device()).fill(loss.grad_sum().at, 1, 1);
  while (!tape.empty()) {
    Step step = std::move(tape.back());
    tape.pop_back();
    if (!step.y.has_grad()) continue;
    step.backward(step.y.grad_sum().at);
    if (debug_level()) watch_backward(step.op, step.y, step.inputs);
  }
}

}  // namespace poslab
