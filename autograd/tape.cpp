#include "autograd/tape.h"

#include <vector>

#include "autograd/debug_check.h"
#include "core/backend.h"
#include "core/debug.h"
#include "core/error.h"

namespace poslab {
namespace {

struct Step {
  const char* op;
  Tensor y;
  Backward backward;
  std::vector<Tensor> inputs;   // kept only to be inputs_to_check, POSLAB_DEBUG
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
  const std::vector<Tensor> inputs_to_check = debug_level() ? std::vector(inputs) : std::vector<Tensor>();
  if (debug_level()) check_forward(op, y, inputs_to_check);
  const bool needed = std::any_of(inputs.begin(), inputs.end(), [](const Tensor& x) { return x.requires_grad(); });
  if (recording() && needed) tape.push_back({op, y.require_grad(), std::move(backward), inputs_to_check});
  return y;
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

void backward(const Tensor& loss) {
  if (loss.size() != 1)
    bad_input("backward: the loss has shape {}; reduce it to one number, for example with sum_all",
              to_string(loss.shape()));
  if (!loss.requires_grad())
    bad_input("backward: the loss depends on nothing that wants a gradient; call require_grad() on a leaf first");
  backend(loss.device()).fill(loss.grad_accumulator().at, 1, 1);
  while (!tape.empty()) {
    Step step = std::move(tape.back());
    tape.pop_back();
    if (!step.y.has_grad()) continue;
    step.backward(step.y.grad_accumulator().at);
    if (debug_level()) check_backward(step.op, step.y, step.inputs);
  }
}

}  // namespace poslab
