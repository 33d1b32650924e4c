// loss = mean_i (ln sum_j exp(x_ij) - x_i,target_i), in nats
//   dx_ij = dloss (p_ij - [j = target_i]) / rows,  p = softmax(x)
#include "autograd/argument_checks.h"
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {

Tensor cross_entropy(const Tensor& logits, const Ids& targets) {          // (..., V), (...) -> (1)
  const int64_t rows = logits.rows();
  const int classes = logits.dim(-1);
  if (Shape(logits.shape().begin(), logits.shape().end() - 1) != present(targets).shape())
    bad_input(
        "cross_entropy: logits {} and targets {}; targets must have the shape of the logits without the last dimension",
        to_string(logits.shape()), to_string(targets.shape()));
  if (const int64_t i = first_outside(targets, classes); i >= 0)
    bad_input("cross_entropy: target {} of {} classes; classes are 0 .. {}", targets[i], classes, classes - 1);
  const Kernels& run = kernels(logits.device());
  Tensor loss({1}, logits.device()), p(logits.shape(), logits.device());
  const int* target = targets.on(logits.device());
  run.cross_entropy(loss.data(), p.data(), logits.data(), target, rows, classes);
  return record("cross_entropy", loss, {logits}, [&run, logits, targets, target, p, rows, classes](const real* dloss) {
    run.cross_entropy_backward(logits.grad_accumulator(), dloss, p.data(), target, rows, classes);
  });
}

}  // namespace poslab
