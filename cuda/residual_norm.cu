// The end of a transformer's sub-layer in one pass: y = norm(s), s = x + dropout(z); kernels stand in cuda/norm.cuh.
// Where z is a product that is just to be made, its tiles of whole rows go on to the norm (cuda/product.cu).
// The dropout factors are drawn again in the backward pass (Philox), s is kept, and nothing else.
#include "cuda/norm.cuh"
#include "cuda/product.h"

namespace poslab::cuda {

void residual_norm(real* y, real* s, const real* x, const real* z, const real* gain, const real* bias, int64_t rows,
                   int n, Dropout how) {
  const DropoutArgs drop = dropout_args(how);
  if (norm_with_product(z, rows, n, {y, s, x, gain, bias, drop})) return;
  norm_forward(y, s, x, z, gain, bias, rows, n, drop);
}
void residual_norm_backward(Accumulator dx, Accumulator dz, Accumulator dgain, Accumulator dbias,
                            const real* dy, const real* s, const real* gain, int64_t rows, int n, Dropout how) {
  norm_backward_of(dx, dz, dgain, dbias, dy, s, gain, rows, n, dropout_args(how));
}

}  // namespace poslab::cuda
