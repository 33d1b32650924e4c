// The linear layer: y = x w + b, and backward dx += dy w^T, dw += x^T dy, db += sum of rows of dy. Backward is two
// launches: the products, those of the weights as partial sums over blocks of rows, and these added up.
#include "cuda/partial_sums.cuh"

namespace poslab::cuda {

void linear(real* y, const real* x, const real* w, const real* b, int64_t rows, int in, int out) {
  multiply(one_product(along(x, in), across(w, out), y, int(rows), out, in, WithBias{b, false}));
}

void linear_backward(Accumulator dx, Accumulator dw, Accumulator db, const real* dy, const real* x, const real* w,
                     int64_t rows, int in, int out) {
  const WeightGradients weights(rows, {dw, db, x, dy, in, out});
  Job<Into> inputs;
  if (dx) inputs = one_product(along(dy, out), along(w, out), dx.at, int(rows), in, out, Into{!dx.empty});
  multiply(inputs, weights.job(0));
  weights.add_up();
}

}  // namespace poslab::cuda
