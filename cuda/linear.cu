// The linear layer: y = x w + b, and backward dx += dy w^T, dw += x^T dy, db += sum of rows of dy. The products
// whose sums over rows are split share a launch with those for dx.
#include "cuda/partial_sums.h"

namespace poslab::cuda {

void linear(real* y, const real* x, const real* w, const real* b, int64_t rows, int in, int out) {
  multiply(one_product(along(x, in), across(w, out), y, int(rows), out, in, {.bias = b}));
}

void linear_backward(Accumulator dx, Accumulator dw, Accumulator db, const real* dy, const real* x, const real* w,
                     int64_t rows, int in, int out) {
  if (dx) multiply(one_product(along(dy, out), along(w, out), dx.at, int(rows), in, out, {.add_to_c = !dx.empty}));
  multiply(rows, {dw, db, x, dy, in, out});
}

}  // namespace poslab::cuda
