// What a residual connection with dropout does around a norm, one thread a number:
//
//   s = x + dropout(z)                  dx += d, dz += dropout(d), d the gradient at s                        all: (n)
#pragma once
#include "cuda/dropout.cuh"

namespace poslab::cuda::naive {
namespace {

// keep_e / (1 - rate) of element e. One Philox call decides over eight elements, and each of the eight threads makes
// it.
__device__ real dropout_factor(const DropoutArgs& drop, int64_t e) {
  if (!drop.stream) return 1;
  return Factors<8>::keep_bits(uint64_t(e / 8), *drop.stream, drop.threshold) >> e % 8 & 1 ? drop.scale : real(0);
}

__global__ void add_dropped(real* s, const real* x, const real* z, int64_t n, DropoutArgs drop) {
  for (const int64_t e : all(n)) s[e] = x[e] + z[e] * dropout_factor(drop, e);
}

// d = a + b, of which one may be null
__global__ void hand_on(Accumulator dx, Accumulator dz, const real* a, const real* b, int64_t n, DropoutArgs drop) {
  for (const int64_t e : all(n)) {
    const real d = (a ? a[e] : real(0)) + (b ? b[e] : real(0));
    if (dx.at) add_to(dx, e, d);
    if (dz.at) add_to(dz, e, d * dropout_factor(drop, e));
  }
}

}  // namespace
}  // namespace poslab::cuda::naive
