// Vectors of the machine, through the vector extension of GCC and clang: one source for SSE2, AVX2, AVX-512, NEON and wasm.
// Every kernel file is compiled once for each instruction set, in a namespace of that name, with these types as wide as
// the set allows. So nothing that is inline may come into a kernel from outside this namespace (the linker would keep one
// copy of it, perhaps the one that the processor at hand cannot run).
#pragma once
#if defined __SSE2__
#include <immintrin.h>
#endif

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/real.h"

namespace poslab::POSLAB_ISA {

#if defined __AVX512F__
constexpr int vector_bytes = 64, registers = 32;
#elif defined __AVX__
constexpr int vector_bytes = 32, registers = 16;
#elif defined __aarch64__
constexpr int vector_bytes = 16, registers = 32;
#else
constexpr int vector_bytes = 16, registers = 16;
#endif
constexpr int lanes = vector_bytes / int(sizeof(real));

// W reals side by side; W = 1 is the scalar, so one template serves vectors and the columns that are left over.
template <int W>
struct Wide {
  typedef real type __attribute__((vector_size(W * sizeof(real))));
  typedef real unaligned __attribute__((vector_size(W * sizeof(real)), aligned(sizeof(real)), may_alias));
};
template <>
struct Wide<1> { typedef real type, unaligned; };
template <int W> using VecOf = typename Wide<W>::type;
using Vec = VecOf<lanes>;

template <int W = lanes>
inline VecOf<W> load(const real* p) { return *reinterpret_cast<const typename Wide<W>::unaligned*>(p); }
template <int W = lanes>
inline void store(real* p, VecOf<W> v) { *reinterpret_cast<typename Wide<W>::unaligned*>(p) = v; }
template <int W = lanes>
inline VecOf<W> splat(real x) { return x - VecOf<W>{}; }

// The lanes below n, n < lanes: true is -1, as vector comparisons have it.
#ifdef POSLAB_DOUBLE
typedef int64_t LaneMask __attribute__((vector_size(vector_bytes)));
#else
typedef int32_t LaneMask __attribute__((vector_size(vector_bytes)));
#endif
inline LaneMask first_lanes(int n) {
  LaneMask lane;
  for (int i = 0; i < lanes; ++i) lane[i] = i;
  return lane < n;
}

// The first n < lanes reals, the rest zero; and their way back. The machine's masked moves, where it has them: a row's last
// vector through memory would stall on its own store.
#if defined __AVX512F__ && !defined POSLAB_DOUBLE
inline Vec load_first(const real* p, int n) { return _mm512_maskz_loadu_ps(__mmask16((1u << n) - 1), p); }
inline void store_first(real* p, Vec v, int n) { _mm512_mask_storeu_ps(p, __mmask16((1u << n) - 1), v); }
#elif defined __AVX2__ && !defined __AVX512F__ && !defined POSLAB_DOUBLE
inline Vec load_first(const real* p, int n) { return _mm256_maskload_ps(p, (__m256i)first_lanes(n)); }
inline void store_first(real* p, Vec v, int n) { _mm256_maskstore_ps(p, (__m256i)first_lanes(n), v); }
#else
inline Vec load_first(const real* p, int n) {
  Vec v{};
  for (int i = 0; i < lanes - 1; ++i)
    if (i < n) v[i] = p[i];
  return v;
}
inline void store_first(real* p, Vec v, int n) {
  for (int i = 0; i < lanes - 1; ++i)
    if (i < n) p[i] = v[i];
}
#endif

inline Vec max(Vec a, Vec b) { return a > b ? a : b; }

// Across the lanes of one vector, always in the same order: halves are folded onto each other.
template <int W, class Fold>
inline real fold_lanes(VecOf<W> v, const Fold& fold) {
  if constexpr (W == 2) {
    return fold(v[0], v[1]);
  } else {
    typename Wide<W / 2>::type low, high;
    __builtin_memcpy(&low, &v, sizeof low);
    __builtin_memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
    return fold_lanes<W / 2>(fold(low, high), fold);
  }
}
inline real sum_lanes(Vec v) {
  return fold_lanes<lanes>(v, [](auto a, auto b) { return a + b; });
}
inline real max_lanes(Vec v) {
  return fold_lanes<lanes>(v, [](auto a, auto b) { return a > b ? a : b; });
}

// e^x = 2^n e^f with n = round(x / ln 2), |f| <= ln 2 / 2, e^f by its Taylor-like minimax polynomial: within 2 units in the
// last place. Above 88.72 it is infinity, below -87.33 zero (no denormals), and NaN stays NaN.
inline Vec exp(Vec x) {
#ifdef POSLAB_DOUBLE
  for (int i = 0; i < lanes; ++i) x[i] = std::exp(x[i]);
  return x;
#else
  typedef int32_t Int __attribute__((vector_size(vector_bytes)));
  const Vec top = splat(88.72283f), bottom = splat(-87.33654f);
  const Vec in = x < bottom ? bottom : (x > top ? top : x);
  const Vec magic = splat(12582912.f);                                 // 1.5 * 2^23: adding it rounds to an integer
  const Vec shifted = in * 1.44269504f + magic, n = shifted - magic;
  const Vec f = in - n * 0.693359375f + n * 2.12194440e-4f;            // ln 2 in two parts, the first exact in 10 bits
  Vec p = splat(1.9875691500e-4f);
  p = p * f + 1.3981999507e-3f;
  p = p * f + 8.3334519073e-3f;
  p = p * f + 4.1665795894e-2f;
  p = p * f + 1.6666665459e-1f;
  p = p * f + 5.0000001201e-1f;
  p = p * f * f + f + 1.f;
  Int half;
  __builtin_memcpy(&half, &shifted, sizeof half);
  const Int power = half - 0x4B400000, low = power >> 1, high = power - low;   // in two factors: 2^128 has no float
  const Int bits_low = (low + 127) << 23, bits_high = (high + 127) << 23;
  Vec scale_low, scale_high;
  __builtin_memcpy(&scale_low, &bits_low, sizeof bits_low);
  __builtin_memcpy(&scale_high, &bits_high, sizeof bits_high);
  const Vec y = p * scale_low * scale_high;
  return x > top ? splat(std::numeric_limits<float>::infinity()) : (x < bottom ? Vec{} : y);
#endif
}

}  // namespace poslab::POSLAB_ISA
