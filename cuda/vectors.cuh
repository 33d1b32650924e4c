// How attention reads and writes: four or eight channels at a time, because 16 bytes are the widest load.
#pragma once
#include "cuda/launch.h"

namespace poslab::cuda {

struct alignas(16) Four {
  real c[4];
};
struct Eight {
  Four low, high;
};

// s + a . b
__device__ inline real dot(const Four& a, const Four& b, real s) {
  for (int e = 0; e < 4; ++e) s += a.c[e] * b.c[e];
  return s;
}
__device__ inline real dot(const Eight& a, const Eight& b) { return dot(a.low, b.low, 0) + dot(a.high, b.high, 0); }
__device__ inline void add_scaled(Four& y, real w, const Four& x) {
  for (int e = 0; e < 4; ++e) y.c[e] += w * x.c[e];
}
__device__ inline void add_scaled(Eight& y, real w, const Eight& x) {
  add_scaled(y.low, w, x.low), add_scaled(y.high, w, x.high);
}
__device__ inline void multiply(Eight& y, real w) {
  for (int e = 0; e < 4; ++e) y.low.c[e] *= w, y.high.c[e] *= w;
}

// The sum over the lanes that differ in the bits least .. most, powers of two. Each of these lanes gets the sum.
__device__ inline Eight sum_over_lanes(Eight y, int least, int most) {
  for (int away = most; away >= least; away /= 2)
    for (int e = 0; e < 4; ++e) {
      y.low.c[e] += __shfl_xor_sync(0xFFFFFFFFu, y.low.c[e], away);
      y.high.c[e] += __shfl_xor_sync(0xFFFFFFFFu, y.high.c[e], away);
    }
  return y;
}

// Channels c .. c + 3 of the n of a row, zeros beyond. whole: n is a multiple of 4, and rows begin where Fours may.
__device__ inline Four four(const real* row, int c, int n, bool whole) {
  if (whole) return c < n ? *reinterpret_cast<const Four*>(row + c) : Four{};
  Four y;  // NOLINT(*-member-init): all four are written
  for (int e = 0; e < 4; ++e) y.c[e] = c + e < n ? row[c + e] : real(0);
  return y;
}
__device__ inline Eight eight(const real* row, int c, int n, bool whole) {
  return {four(row, c, n, whole), four(row, c + 4, n, whole)};
}
template <class Pool>
__device__ inline Eight eight(Pool& pool, int at) {
  const Four low = pool[at], high = pool[at + 1];
  return {low, high};
}

// pool[at] = the Four at `from`, an aligned address: the copy begins here, and is done once this thread has called
// arrived(). Any number may be under way, and none takes a register.
template <class Pool>
__device__ inline void bring(Pool& pool, int at, const real* from) {
#ifdef POSLAB_EMULATE
  pool.begin(at, *reinterpret_cast<const Four*>(from));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  static_assert(sizeof(Four) == 16);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(unsigned(__cvta_generic_to_shared(&pool[at]))),
               "l"(__cvta_generic_to_global(from)));
#else
  pool[at] = *reinterpret_cast<const Four*>(from);
#endif
}
template <class Pool>
__device__ inline void arrived([[maybe_unused]] Pool& pool) {
#ifdef POSLAB_EMULATE
  pool.arrive();
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// row[c ..] = or += y
__device__ inline void put(real* row, bool empty, int c, int n, bool whole, Four y) {
  if (!empty) add_scaled(y, 1, four(row, c, n, whole));
  if (whole) {
    if (c < n) *reinterpret_cast<Four*>(row + c) = y;
  } else {
    for (int e = 0; e < 4; ++e)
      if (c + e < n) row[c + e] = y.c[e];
  }
}
__device__ inline void put(real* row, bool empty, int c, int n, bool whole, const Eight& y) {
  put(row, empty, c, n, whole, y.low), put(row, empty, c + 4, n, whole, y.high);
}

}  // namespace poslab::cuda
