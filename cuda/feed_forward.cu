// The feed-forward network: wide = max(x w1 + b1, 0), y = wide w2 + b2. Backward: dh = dy w2^T [wide > 0], then
// dx += dh w1^T, dw1 += x^T dh, dw2 += wide^T dy and the sums of rows: three launches, as all behind dh share one.
#include "cuda/slices.cuh"

namespace poslab::cuda {

void feed_forward(real* y, real* wide, const real* x, const real* w1, const real* b1, const real* w2,
                  const real* b2, int64_t rows, int in, int middle, int out) {
  multiply(one_product(along(x, in), across(w1, middle), wide, int(rows), middle, in, WithBias{b1, true}));
  multiply(one_product(along(wide, middle), across(w2, out), y, int(rows), out, middle, WithBias{b2, false}));
}

void feed_forward_backward(Sum dx, Sum dw1, Sum db1, Sum dw2, Sum db2, const real* dy,
                           const real* x, const real* wide, const real* w1, const real* w2, int64_t rows,
                           int in, int middle, int out) {
  const int m = int(rows);
  const bool behind_relu = dx || dw1 || db1;
  real* dh = behind_relu ? scratch(1, rows * middle) : nullptr;
  if (behind_relu)
    multiply(one_product(along(dy, out), along(w2, out), dh, m, middle, out, Gated{wide}));
  const WeightGradients weights(rows, {dw1, db1, x, dh, in, middle}, {dw2, db2, wide, dy, middle, out});
  Job<Into> inputs;
  if (dx) inputs = one_product(along(dh, middle), along(w1, middle), dx.at, m, in, middle, Into{!dx.empty});
  multiply(inputs, weights.job(0), weights.job(1));
  weights.add_up();
}

}  // namespace poslab::cuda
