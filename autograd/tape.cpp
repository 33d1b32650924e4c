#include "autograd/tape.h"

#include <algorithm>

#include "autograd/observe.h"
#include "autograd/pass.h"
#include "core/backend.h"
#include "core/error.h"

namespace poslab {

thread_local std::vector<TapeStep> tape;

namespace {

thread_local int no_grad = 0;

void check_loss(const Tensor& loss) {
  if (loss.size() != 1)
    bad_input("backward: the loss has shape {}; reduce it to one number, as with sum_all", to_string(loss.shape()));
  if (!loss.requires_grad())
    bad_input("backward: the loss depends on nothing that requires a gradient; call require_grad() on a leaf first");
  if (is_stale(loss)) refuse_stale("the loss is a result");
}

}  // namespace

bool needed(Inputs inputs) {
  return no_grad == 0 && std::any_of(inputs.begin(), inputs.end(), [](Input in) { return in.x.requires_grad(); });
}

NoGrad::NoGrad() { ++no_grad; }
NoGrad::~NoGrad() { --no_grad; }
bool recording() { return no_grad == 0; }
size_t tape_length() { return tape.size(); }
void clear_tape() { const EndOfPass now; }

Tensor record(const char* op, Tensor y, Inputs inputs, Backward backward) {
  backward = observe_forward(op, y, inputs, needed(inputs), with_stale_check(op, inputs, std::move(backward)));
  if (!needed(inputs)) return y;
  tape.push_back({mark_pass(y.require_grad()), std::move(backward), {}});
  return y;
}

Tensor without_gradient(const char* op, Tensor y, Inputs inputs) {
  observe_forward(op, y, inputs, false, {});
  return y;
}

void backward(const Tensor& loss) {
  check_loss(loss);
  const EndOfPass cleared_at_the_end;
  backend(loss.device()).fill(loss.grad_accumulator().at, 1, 1);
  while (!tape.empty()) {
    TapeStep step = std::move(tape.back());
    tape.pop_back();
    if (!step.reached()) continue;
    step.backward(gradient(step.y));
    observe_backward();
  }
}

}  // namespace poslab
