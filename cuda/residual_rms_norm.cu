// The start of a pre-norm sub-layer in one pass: s = x + dropout(z) and y = rms_norm(s); kernels stand in
// cuda/rms_norm.cuh. The dropout factors are drawn again in the backward pass (Philox), s is kept, and nothing else.
#include "cuda/rms_norm.cuh"

namespace poslab::cuda {

void residual_rms_norm(real* s, real* y, const real* x, const real* z, const real* gain, int64_t rows, int n,
                       real epsilon, Dropout how) {
  rms_norm_forward(s, y, x, z, gain, rows, n, epsilon, dropout_args(how));
}
void residual_rms_norm_backward(Accumulator dx, Accumulator dz, Accumulator dgain, const real* ds, const real* dy,
                                const real* s, const real* gain, int64_t rows, int n, real epsilon, Dropout how) {
  rms_norm_backward_of(dx, dz, dgain, ds, dy, s, gain, rows, n, epsilon, dropout_args(how));
}

}  // namespace poslab::cuda
