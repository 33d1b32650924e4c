// The feed-forward network: hidden = max(x w1 + b1, 0), y = hidden w2 + b2. Backward: dh = dy w2^T [hidden > 0], then
// dx += dh w1^T, dw1 += x^T dh, dw2 += hidden^T dy and the sums of rows: products that do not need dh share its launch.
#include "cuda/partial_sums.h"

namespace poslab::cuda {

void feed_forward(real* y, real* hidden, const real* x, const real* w1, const real* b1, const real* w2,
                  const real* b2, int64_t rows, int in, int d_ff, int out) {
  const int m = int(rows);
  multiply(one_product(along(x, in), across(w1, d_ff), hidden, m, d_ff, in, {.bias = b1, .relu = true}));
  multiply(one_product(along(hidden, d_ff), across(w2, out), y, m, out, d_ff, {.bias = b2}));
}

void feed_forward_backward(Accumulator dx, Accumulator dw1, Accumulator db1, Accumulator dw2, Accumulator db2,
                           const real* dy, const real* x, const real* hidden, const real* w1, const real* w2,
                           int64_t rows, int in, int d_ff, int out) {
  const int m = int(rows);
  const bool behind_relu = dx || dw1 || db1;
  real* dh = behind_relu ? scratch(1, rows * d_ff) : nullptr;
  if (behind_relu) multiply(one_product(along(dy, out), along(w2, out), dh, m, d_ff, out, {.gate = hidden}));
  multiply(rows, {dw2, db2, hidden, dy, d_ff, out});
  if (dx) multiply(one_product(along(dh, d_ff), along(w1, d_ff), dx.at, m, in, d_ff, {.add_to_c = !dx.empty}));
  multiply(rows, {dw1, db1, x, dh, in, d_ff});
}

}  // namespace poslab::cuda
