// The factors keep_e / (1 - rate) of elements side by side, see Dropout in core/kernels.h. One Philox call decides over
// 8 elements: each thread makes one call, and shuffles pass the keep bits on, one byte from each call, so that the
// elements themselves are read and written in whole lines.
#pragma once
#include "cuda/launch.h"

namespace poslab::cuda {

// A Dropout as kernels get it: the stream differs in each step, so it is in the step's data.
struct DropoutArgs {
  const Stream* stream;                // null: everything is kept
  uint32_t threshold;
  real scale;
  FIELDS(DropoutArgs, stream, threshold, scale)
};
inline DropoutArgs dropout_args(const Dropout& how) {
  const uint32_t threshold = uint32_t(65536 * how.rate + real(0.5));
  return {how.rate > 0 ? upload(how.stream) : nullptr, threshold, real(65536) / real(65536 - threshold)};
}

// Factors of elements first .. first + 8 lanes - 1, by `lanes` threads (8 or 32). All lanes of the warp must call it.
template <int lanes>
struct Factors {
  uint32_t mine = 0xFF, beyond = 0xFF; // keep bits of the elements of block `lane`, and of block `lanes`
  int skip, lane, base;                // elements of the first block before `first`; this lane; lane 0 in the warp
  real scale;

  __device__ Factors(const DropoutArgs& d, int64_t first)
      : skip(int(first % 8)), lane(int(threadIdx.x) % lanes), base(int(threadIdx.x) % warp - lane), scale(d.scale) {
    if (!d.stream) return;
    const Stream stream = *d.stream;
    mine = keep_bits(uint64_t(first / 8 + lane), stream, d.threshold);
    if (skip) beyond = keep_bits(uint64_t(first / 8 + lanes), stream, d.threshold);
  }
  // The factor of element first + lane + k lanes.
  __device__ real of(int k) const {
    const int at = skip + lane + k * lanes;
    const uint32_t bits = __shfl_sync(0xFFFFFFFFu, mine, base + at / 8);
    return (at / 8 < lanes ? bits : beyond) >> at % 8 & 1 ? scale : real(0);
  }
  static __device__ uint32_t keep_bits(uint64_t block, const Stream& stream, uint32_t threshold) {
    const Bits words = philox(block, stream);
    uint32_t bits = 0;
    for (int w = 0; w < 8; ++w) bits |= uint32_t((words.at[w / 2] >> w % 2 * 16 & 0xFFFF) >= threshold) << w;
    return bits;
  }
};

}  // namespace poslab::cuda
