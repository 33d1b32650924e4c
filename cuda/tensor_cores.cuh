// Products on tensor cores: tiles of 16 x 8 x 8, of numbers that are rounded to TF32 or bfloat16, in the emulation too.
#pragma once
#include "core/rounding.h"
#include "cuda/launch.h"

namespace poslab::cuda {

// Older GPUs have no such tensor cores, and no kernel that uses them is started there (driver::has_tensor_cores()): for
// these GPUs such a kernel compiles to a mere return.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr bool without_tensor_cores = true;
#else
constexpr bool without_tensor_cores = false;
#endif

// The bits of x rounded as the tensor core wants it: to 11 bits (TF32: 8 of exponent, 10 stored of fraction), ties away
// from 0; two of them to 8 bits each (bfloat16), ties to even, low in the lower half.
#ifdef POSLAB_EMULATE
__device__ inline float to_tf32(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  if (std::isfinite(x)) bits = (bits + 0x1000u) & ~0x1FFFu;
  __builtin_memcpy(&x, &bits, sizeof bits);
  return x;
}
__device__ inline float to_bf16(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  if (std::isfinite(x)) bits = (bits + 0x7FFFu + (bits >> 16 & 1)) & ~0xFFFFu;
  __builtin_memcpy(&x, &bits, sizeof bits);
  return x;
}
// c += a b on a tile of 16 x 8 x 8: lane 4g + t has a's rows g and g + 8 at t, then both at t + 4; b's column g at t
// and t + 4; and of c row g at columns 2t and 2t + 1, then row g + 8 there.
__device__ inline void multiply_add(float (&c)[4], const float (&a)[4], const float (&b)[2]) {
  const auto* all = emulate::exchange_all({a[0], a[1], a[2], a[3], b[0], b[1]});
  const unsigned g = emulate::lane() / 4, t = emulate::lane() % 4;
  for (unsigned e = 0; e < 4; ++e)
    for (unsigned k = 0; k < 8; ++k)
      c[e] += all[4 * g + k % 4].at[k / 4 * 2 + e / 2] * all[4 * (2 * t + e % 2) + k % 4].at[4 + k / 4];
}
__device__ inline void multiply_add_bf16(float (&c)[4], const float (&a)[4], const float (&b)[2]) {
  multiply_add(c, {to_bf16(a[0]), to_bf16(a[1]), to_bf16(a[2]), to_bf16(a[3])}, {to_bf16(b[0]), to_bf16(b[1])});
}
#else
__device__ inline float to_tf32(float x) {
#if __CUDA_ARCH__ >= 800
  uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
#else
  return x;                        // such a GPU never starts it: see driver::has_tensor_cores()
#endif
}
__device__ inline void multiply_add(float (&c)[4], const float (&a)[4], const float (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
        "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
#endif
}
// Here one register holds indices 2t and 2t + 1 of the sum; which is which is free, if a and b agree.
__device__ inline uint32_t two_bf16(float low, float high) {
  uint32_t both = 0;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
#endif
  return both;
}
__device__ inline void multiply_add_bf16(float (&c)[4], const float (&a)[4], const float (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(two_bf16(a[0], a[2])), "r"(two_bf16(a[1], a[3])), "r"(two_bf16(b[0], b[1])));
#endif
}
#endif

// c += a b, whose factors are rounded as `how` says.
template <Rounding how>
__device__ inline void add_rounded(float (&c)[4], const float (&a)[4], const float (&b)[2]) {
  if constexpr (how == Rounding::bf16) return multiply_add_bf16(c, a, b);
  const float a_big[4] = {to_tf32(a[0]), to_tf32(a[1]), to_tf32(a[2]), to_tf32(a[3])};
  const float b_big[2] = {to_tf32(b[0]), to_tf32(b[1])};
  if constexpr (how == Rounding::tf32x3) {                   // a b = small big + big small + big big, nearly
    multiply_add(c, {to_tf32(a[0] - a_big[0]), to_tf32(a[1] - a_big[1]), to_tf32(a[2] - a_big[2]),
                     to_tf32(a[3] - a_big[3])}, b_big);
    multiply_add(c, a_big, {to_tf32(b[0] - b_big[0]), to_tf32(b[1] - b_big[1])});
  }
  multiply_add(c, a_big, b_big);
}

}  // namespace poslab::cuda
