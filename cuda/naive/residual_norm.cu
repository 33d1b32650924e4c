// The end of a sub-layer, y = norm(s), s = x + dropout(z): first s, then the norm of cuda/naive/norm.cu. The fast form
// is cuda/norm.cuh, or the end of a product's launch (cuda/product.cu).
//
// What it costs, with rows = 128 x 80 and n = 64: x and z are loaded once, s is stored once and loaded three times, y
// stored once. Backward, the gradient at s is stored and loaded again. 655,360 calls of Philox say what is dropped.
//
// What the fast form does differently, step by step:
//   1. Sum, dropout and norm are one launch, and s stays in registers between them: it is stored for the backward pass
//      and not loaded. Backward, the gradient at s never goes to memory.
//   2. A call of Philox decides over eight numbers, and its bits go round by shuffles: 81,920 calls (cuda/dropout.cuh).
//   3. Where z is a product that is just being made, its tile has whole rows, and the block goes on to their norm: z is
//      not loaded, and there is one launch less.
#include "cuda/naive/residual.cuh"

namespace poslab::cuda::naive {

void norm(real* y, const real* x, const real* gain, const real* bias, int64_t rows, int n);    // cuda/naive/norm.cu
void norm_backward(Accumulator dx, Accumulator dgain, Accumulator dbias, const real* dy, const real* x,
                   const real* gain, int64_t rows, int n);

void residual_norm(real* y, real* s, const real* x, const real* z, const real* gain, const real* bias, int64_t rows,
                   int n, Dropout how) {
  launch(add_dropped, blocks_for(rows * n), threads, s, x, z, rows * n, dropout_args(how));
  norm(y, s, gain, bias, rows, n);
}

void residual_norm_backward(Accumulator dx, Accumulator dz, Accumulator dgain, Accumulator dbias, const real* dy,
                            const real* s, const real* gain, int64_t rows, int n, Dropout how) {
  const Accumulator ds = {scratch(2, rows * n), true};
  norm_backward(ds, dgain, dbias, dy, s, gain, rows, n);
  launch(hand_on, blocks_for(rows * n), threads, dx, dz, ds.at, nullptr, rows * n, dropout_args(how));
}

}  // namespace poslab::cuda::naive
