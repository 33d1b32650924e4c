#include "autograd/observe.h"

#include <atomic>
#include <cstdio>

#include "autograd/debug_check.h"

namespace poslab {
namespace {

void warn_of_growth() {
  static std::atomic_flag warned;
  if (!warned.test_and_set())
    std::fputs("poslab: 10,000 ops are on the tape without a backward pass; wrap inference in "
               "NoGrad (Python: with pl.no_grad()), or call clear_tape()\n", stderr);
}

}  // namespace

TapeWatch::TapeWatch() : outer_(innermost_watch) { innermost_watch = this; }
TapeWatch::~TapeWatch() { innermost_watch = outer_; }

Backward observe(const char* op, const std::vector<Tensor>& results, Inputs inputs, bool on_tape, Backward backward) {
  observe_backward();
  const size_t at = tape_length();
  if (on_tape && at == warned_length) warn_of_growth();
  const bool debug = debug_level() > 0;
  if (!debug && !innermost_watch) return backward;
  std::vector<Tensor> read;
  for (const Input in : inputs) read.push_back(in.x);
  if (debug) check_forward(op, results, read);
  if (!on_tape) return backward;
  if (innermost_watch) innermost_watch->after_forward(at, op, results, read);
  auto run = [at, backward = std::move(backward)](const real* dy) {
    if (innermost_watch) innermost_watch->before_backward(at);
    backward(dy);
    if (innermost_watch) innermost_watch->after_backward(at);
  };
  if (!debug) return run;  // keeps no tensors alive: a watch must not change memory
  return [=](const real* dy) {
    run(dy);
    check_backward(op, results, read);
  };
}

}  // namespace poslab
