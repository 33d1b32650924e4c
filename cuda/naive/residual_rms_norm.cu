// The start of a pre-norm sub-layer, s = x + dropout(z) and y = rms_norm(s), one after the other. The fast form is
// cuda/rms_norm.cuh; what it costs and what that does differently is as in cuda/naive/residual_norm.cu.
#include "cuda/naive/residual.cuh"

namespace poslab::cuda::naive {

void rms_norm(real* y, const real* x, const real* gain, int64_t rows, int n, real epsilon);   // cuda/naive/rms_norm.cu
void rms_norm_backward(Accumulator dx, Accumulator dgain, const real* dy, const real* x, const real* gain, int64_t rows,
                       int n, real epsilon);

void residual_rms_norm(real* s, real* y, const real* x, const real* z, const real* gain, int64_t rows, int n,
                       real epsilon, Dropout how) {
  launch(add_dropped, blocks_for(rows * n), threads, s, x, z, rows * n, dropout_args(how));
  rms_norm(y, s, gain, rows, n, epsilon);
}

// The gradient at s is ds, which came along the residual connection, and what the norm gives. One of them may be
// absent.
void residual_rms_norm_backward(Accumulator dx, Accumulator dz, Accumulator dgain, const real* ds, const real* dy,
                                const real* s, const real* gain, int64_t rows, int n, real epsilon, Dropout how) {
  const Accumulator of_norm = {dy ? scratch(2, rows * n) : nullptr, true};
  if (dy) rms_norm_backward(of_norm, dgain, dy, s, gain, rows, n, epsilon);
  launch(hand_on, blocks_for(rows * n), threads, dx, dz, ds, of_norm.at, rows * n, dropout_args(how));
}

}  // namespace poslab::cuda::naive
