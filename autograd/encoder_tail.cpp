// The half of a post-norm encoder block after attention as one op, for a GPU with a kernel for it; the derivative is
// stated in cuda/encoder_block_backward.cu.
//
//   h = norm(x + dropout(o Wo))     y = norm(h + dropout(max(h W1 + b1, 0) W2 + b2))             x, o, h, y: (..., C)
#include "autograd/encoder_block.h"
#include "autograd/argument_checks.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {
namespace {

BlockArgs tail_arguments(const Tensor& x, int rows, const BlockWeights& w) {
  const int C = x.dim(-1);
  BlockArgs args{.attention = {.batch = 1, .queries = rows, .keys = rows, .heads = 1, .kv_heads = 1, .head_dim = C,
                               .value_dim = C}};
  args.d_ff = w.w1.dim(1), args.x = x.data(), args.output = w.output.data();
  args.gain1 = w.gain1.data(), args.bias1 = w.bias1.data(), args.gain2 = w.gain2.data(), args.bias2 = w.bias2.data();
  args.w1 = w.w1.data(), args.b1 = w.b1.data(), args.w2 = w.w2.data(), args.b2 = w.b2.data();
  return args;
}

}  // namespace

bool encoder_tail_fits(const Tensor& x, int rows, const BlockWeights& w) {
  const Kernels& run = kernels(x.device());
  return run.encoder_tail && run.encoder_tail_fits(tail_arguments(x, rows, w));
}

Tensor encoder_tail(const Tensor& x, const Tensor& mixed, const BlockWeights& w, Dropout drop1, Dropout drop2) {
  const Kernels& run = kernels(x.device());
  if (!run.encoder_tail) return {};
  const int C = x.dim(-1), rows = int(x.rows());
  if (x.shape() != mixed.shape() || w.output.shape() != Shape{C, C} || w.w1.dims() != 2 || w.w2.dims() != 2 ||
      w.w1.dim(0) != C || w.w2.shape() != Shape{w.w1.dim(1), C} || w.b1.shape() != Shape{w.w1.dim(1)})
    bad_input("encoder_tail: x is {}, attention's result {}, output {}, w1 {}, b1 {}, w2 {}; they must be (..., C) "
              "twice, (C, C), (C, d_ff), (d_ff), (d_ff, C)", to_string(x.shape()), to_string(mixed.shape()),
              to_string(w.output.shape()), to_string(w.w1.shape()), to_string(w.b1.shape()), to_string(w.w2.shape()));
  for (const Tensor* t : {&w.b2, &w.gain1, &w.bias1, &w.gain2, &w.bias2})
    if (t->shape() != Shape{C})
      bad_input("encoder_tail: a bias or gain is {}, and x {}; it must be ({})", to_string(t->shape()),
                to_string(x.shape()), C);
  check_rate(drop1), check_rate(drop2);
  BlockArgs args = tail_arguments(x, rows, w);
  args.dropout1 = drop1, args.dropout2 = drop2;
  if (!run.encoder_tail_fits(args)) return {};
  Tensor y(x.shape(), x.device());
  if (!recording()) {
    run.encoder_tail(y.data(), mixed.data(), {}, args);
    return without_gradient("encoder_tail", y, {x, mixed});
  }
  Tensor s1(x.shape(), x.device()), h(x.shape(), x.device()), s2(x.shape(), x.device());
  Tensor hidden({rows, args.d_ff}, x.device());
  const BlockKept kept{.s1 = s1.data(), .h = h.data(), .s2 = s2.data(), .hidden = hidden.data()};
  run.encoder_tail(y.data(), mixed.data(), kept, args);
  return record("encoder_tail", y, {x, mixed, w.output, w.gain1, w.bias1, w.w1, w.b1, w.w2, w.b2, w.gain2, w.bias2},
                [=, &run, all_kept = std::array{s1, h, s2, hidden}](const real* dy) {
                  const auto d = grad_accumulators(x, mixed, w.output, w.gain1, w.bias1, w.w1, w.b1, w.w2, w.b2,
                                                   w.gain2, w.bias2);
                  BlockGrads grads;
                  grads.x = d[0], grads.output = d[2], grads.gain1 = d[3], grads.bias1 = d[4], grads.w1 = d[5];
                  grads.b1 = d[6], grads.w2 = d[7], grads.b2 = d[8], grads.gain2 = d[9], grads.bias2 = d[10];
                  run.encoder_tail_backward(grads, d[1], dy, mixed.data(), kept, args);
                });
}

}  // namespace poslab
