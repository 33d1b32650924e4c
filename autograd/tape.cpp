#include "autograd/tape.h"

#include <vector>

#include "autograd/debug_check.h"
#include "autograd/dropped.h"
#include "autograd/watch.h"
#include "core/backend.h"
#include "core/debug.h"
#include "core/error.h"
#include "core/stop.h"

namespace poslab {

thread_local std::vector<TapeStep> tape;

namespace {

thread_local int no_grad = 0;
thread_local TapeWatch* watch = nullptr;

bool needed(Inputs inputs) {
  // course 2: needed
  return no_grad == 0 && std::any_of(inputs.begin(), inputs.end(), [](Input in) { return in.x.requires_grad(); });
  // course end
}
std::vector<Tensor> kept(Inputs inputs) {
  std::vector<Tensor> all;
  for (const Input in : inputs) all.push_back(in.x);
  return all;
}
const real* gradient(const Tensor& y) { return y.has_grad() ? y.grad_accumulator().at : nullptr; }

std::vector<Tensor> checked_inputs(const char* op, const std::vector<Tensor>& ys, Inputs inputs) {
  std::vector<Tensor> all = kept(inputs);
  check_forward(op, ys, all);
  return all;
}

}  // namespace

TapeWatch::TapeWatch() : outer_(watch) { watch = this; }
TapeWatch::~TapeWatch() { watch = outer_; }
NoGrad::NoGrad() { ++no_grad; }
NoGrad::~NoGrad() { --no_grad; }
bool recording() { return no_grad == 0; }
size_t tape_length() { return tape.size(); }
void clear_tape() { drop_ops(tape), tape.clear(); }

Tensor record(const char* op, Tensor y, Inputs inputs, Backward backward) {
  if (cancelled()) stop_if_wanted();
  std::vector<Tensor> to_check;
  if (debug_level()) to_check = checked_inputs(op, {y}, inputs);
  backward = unless_dropped(op, inputs, std::move(backward));
  // course 2: record
  if (!needed(inputs)) return y;
  if (watch) watch->recorded(tape.size(), op, {y}, kept(inputs));
  tape.push_back({op, y.require_grad().made_on(this_tape()), std::move(backward), std::move(to_check), {}});
  return y;
  // course end
}

Tensor without_gradient(const char* op, Tensor y, Inputs inputs) {
  if (cancelled()) stop_if_wanted();
  if (debug_level()) check_forward(op, {y}, kept(inputs));
  return y;
}

std::vector<Tensor> record(const char* op, std::vector<Tensor> ys, Inputs inputs, BackwardOfSeveral backward) {
  if (cancelled()) stop_if_wanted();
  std::vector<Tensor> to_check;
  if (debug_level()) to_check = checked_inputs(op, ys, inputs);
  if (!needed(inputs)) return ys;
  if (watch) watch->recorded(tape.size(), op, ys, kept(inputs));
  for (Tensor& y : ys) y.require_grad().made_on(this_tape());
  const auto all = [ys, backward = std::move(backward)](const real*) {
    std::vector<const real*> dy;
    for (const Tensor& y : ys) dy.push_back(gradient(y));
    backward(dy);
  };
  tape.push_back({op, ys[0], unless_dropped(op, inputs, all), std::move(to_check), ys});
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

void backward(const Tensor& loss) {
  if (loss.size() != 1)
    bad_input("backward: the loss has shape {}; reduce it to one number, as with sum_all", to_string(loss.shape()));
  if (!loss.requires_grad())
    bad_input("backward: the loss depends on nothing that wants a gradient; call require_grad() on a leaf first");
  must_be_here(loss.made_on(), nullptr);
  const ClearedTape at_the_end;
  // course 2: backward
  backend(loss.device()).fill(loss.grad_accumulator().at, 1, 1);
  while (!tape.empty()) {
    TapeStep step = std::move(tape.back());
    tape.pop_back();
    const auto reached = [](const Tensor& y) { return y.has_grad(); };
    if (!reached(step.y) && std::none_of(step.results.begin(), step.results.end(), reached)) continue;
    if (watch) watch->before_backward(tape.size());
    step.backward(gradient(step.y));
    if (watch) watch->after_backward(tape.size());
    if (cancelled()) stop_if_wanted();
    if (debug_level()) check_backward(step.op, step.results.empty() ? std::vector{step.y} : step.results, step.inputs);
  }
  // course end
}

}  // namespace poslab
