// Vectors of the machine, through the vector extension of GCC and clang: one source for SSE2, AVX2, AVX-512, NEON and
// wasm.
// Every kernel file is compiled once for each instruction set, in a namespace of that name, with these types as wide as
// the set allows. So a kernel may use no inline function from outside this namespace: the linker would keep only one of
// its copies (there is one for each set), perhaps one that this processor cannot run.
#pragma once
#if defined __SSE2__
#include <immintrin.h>
#endif

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "core/real.h"

namespace poslab::POSLAB_ISA {

#if defined __AVX512F__
constexpr int vector_bytes = 64, registers = 32;
#elif defined __AVX__
constexpr int vector_bytes = 32, registers = 16;
#elif defined __aarch64__
constexpr int vector_bytes = 16, registers = 32;
#elif defined __wasm__
constexpr int vector_bytes = 16, registers = 12;   // not 16: browsers spill the last; 47 GFLOP/s become 25
#else
constexpr int vector_bytes = 16, registers = 16;
#endif
constexpr int lanes = vector_bytes / int(sizeof(real));
constexpr real neg_infinity = -std::numeric_limits<real>::infinity();

// W reals side by side; W = 1 is the scalar, so one template serves vectors and the columns that are left over.
template <int W>
struct Wide {
  typedef real type __attribute__((vector_size(W * sizeof(real))));
  typedef real unaligned __attribute__((vector_size(W * sizeof(real)), aligned(sizeof(real)), may_alias));
};
template <>
struct Wide<1> {
  typedef real type, unaligned;
};
template <int W>
using VecOf = typename Wide<W>::type;
using Vec = VecOf<lanes>;

template <int W = lanes>
inline VecOf<W> load(const real* p) {
  return *reinterpret_cast<const typename Wide<W>::unaligned*>(p);
}
template <int W = lanes>
inline void store(real* p, VecOf<W> v) {
  *reinterpret_cast<typename Wide<W>::unaligned*>(p) = v;
}
template <int W = lanes>
inline VecOf<W> splat(real x) {
  return x - VecOf<W>{};
}

// a b + c. Compilers emit one instruction where the machine has it; for wasm the code must ask for it.
template <class V, class Factor>
inline V multiply_add(V a, Factor b, V c) {
#ifdef __wasm_relaxed_simd__
  if constexpr (sizeof(V) == vector_bytes) return __builtin_wasm_relaxed_madd_f32x4(a, b - V{}, c);
#endif
  return a * b + c;
}

// A mask of the lanes below n, n < lanes: true is -1, as in vector comparisons.
#ifdef POSLAB_DOUBLE
typedef int64_t LaneMask __attribute__((vector_size(vector_bytes)));
#else
typedef int32_t LaneMask __attribute__((vector_size(vector_bytes)));
#endif
inline LaneMask lane_numbers() {
  LaneMask lane;
  for (int i = 0; i < lanes; ++i) lane[i] = i;
  return lane;
}
inline LaneMask first_lanes(int n) { return lane_numbers() < n; }

// Load or store the first n < lanes reals; a load fills the other lanes with zeros. Masked moves do this where the
// machine has them: with copies element by element, a row's last vector would stall on its own store.
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

inline bool any(LaneMask m) {
#if defined __AVX512F__ && !defined POSLAB_DOUBLE
  return _mm512_movepi32_mask((__m512i)m);
#elif defined __AVX2__ && !defined __AVX512F__ && !defined POSLAB_DOUBLE
  return _mm256_movemask_ps((__m256)m);
#else
  bool one = false;
  for (int i = 0; i < lanes; ++i) one |= m[i] != 0;
  return one;
#endif
}

// The larger and the smaller number; b where a or b is NaN.
#if defined __AVX512F__ && !defined POSLAB_DOUBLE
inline Vec max(Vec a, Vec b) {
  return _mm512_maskz_max_ps(0xFFFF, a, b);
}  // without a mask GCC 12 emits two instructions
inline Vec min(Vec a, Vec b) { return _mm512_maskz_min_ps(0xFFFF, a, b); }
#else
inline Vec max(Vec a, Vec b) { return a > b ? a : b; }
inline Vec min(Vec a, Vec b) { return a < b ? a : b; }
#endif

// Sum and maximum across the lanes of one vector, always in the same order: halves are folded onto each other.
template <int... i>
inline auto lower_half(auto v, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(v, v, i...);
}
template <int... i>
inline auto upper_half(auto v, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(v, v, (i + int(sizeof...(i)))...);
}
template <int W, class Fold>
inline auto fold_lanes(auto v, const Fold& fold) {
  if constexpr (W == 2) {
    return fold(v[0], v[1]);
  } else {
    const auto half = std::make_integer_sequence<int, W / 2>();
    return fold_lanes<W / 2>(fold(lower_half(v, half), upper_half(v, half)), fold);
  }
}
inline real sum_lanes(Vec v) {
  return fold_lanes<lanes>(v, [](auto a, auto b) { return a + b; });
}
inline real max_lanes(Vec v) {
  return fold_lanes<lanes>(v, [](auto a, auto b) { return a > b ? a : b; });
}

#ifndef POSLAB_DOUBLE
// p 2^n where x >= low or x is NaN, else 0, for p near 1 and a whole n from -126 to 128. A mask makes the zeros.
inline Vec times_power_of_two(Vec p, Vec n, Vec x, float low) {
#if defined __AVX512F__
  return _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(x, splat(low), _CMP_NLT_UQ), p, n);
#else
  typedef int32_t Int __attribute__((vector_size(vector_bytes)));
  const Int power = __builtin_convertvector(n, Int), half = power >> 1;  // in two factors: 2^128 is no float
  const Int bits_half = (half + 127) << 23, bits_rest = (power - half + 127) << 23;
  Vec scale_half, scale_rest;
  __builtin_memcpy(&scale_half, &bits_half, sizeof bits_half);
  __builtin_memcpy(&scale_rest, &bits_rest, sizeof bits_rest);
  return x < low ? Vec{} : p * scale_half * scale_rest;
#endif
}

inline Vec to_whole(Vec x) {  // |x| < 2^22
#if defined __AVX512F__
  return _mm512_maskz_roundscale_ps(0xFFFF, x, _MM_FROUND_TO_NEAREST_INT);
#else
  return (x + 12582912.f) - 12582912.f;  // 1.5 * 2^23: adding it rounds
#endif
}
#endif

// e^x = 2^n e^f with n = round(x / ln 2), |f| <= ln 2 / 2, and e^f by its minimax polynomial of degree 6 (relative
// error 3e-9): within 2 units in the last place. Valid for x <= 88.72, enough for a softmax; NaN stays NaN.
//
// Below -87.33, where e^x would no longer be a normal number, it is exactly 0: Intel's processors take some 150 cycles
// for each vector with a subnormal result, and the masked lanes of a row, at -infinity, would give one. In softmax,
// cross-entropy and sigmoid a term of 1 hides the difference; exp(x) and softplus(x) below 1.2e-38 become 0.
inline Vec exp_unclamped(Vec x) {
#ifdef POSLAB_DOUBLE
  for (int i = 0; i < lanes; ++i) x[i] = x[i] < -708.39 ? 0 : std::exp(x[i]);
  return x;
#else
  constexpr float low = -87.33f;
  const Vec in = max(splat(low), x), n = to_whole(in * 1.44269504f);
  // ln 2 in two parts, the first exact in 10 bits
  const Vec f = multiply_add(n, 2.12194440e-4f, multiply_add(n, -0.693359375f, in));
  Vec p = splat(1.40612770e-3f);
  p = multiply_add(p, f, splat(8.37902073e-3f));
  p = multiply_add(p, f, splat(4.16647755e-2f));
  p = multiply_add(p, f, splat(1.66663647e-1f));
  p = multiply_add(p, f, splat(5.00000060e-1f));
  p = multiply_add(p, f, splat(1.f));
  p = multiply_add(p, f, splat(1.f));
  return times_power_of_two(p, n, x, low);
#endif
}

// e^x for all x; above 88.72 it is infinity.
inline Vec exp(Vec x) {
  const Vec top = splat(std::log(std::numeric_limits<real>::max()));
  return x > top ? splat(std::numeric_limits<real>::infinity()) : exp_unclamped(min(top, x));
}

}  // namespace poslab::POSLAB_ISA
