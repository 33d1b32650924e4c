// Functions of vectors that several kernels need; elementwise.cpp has the other functions.
#pragma once
#include "core/cpu/simd.h"

namespace poslab::POSLAB_ISA {

inline Vec magnitude(Vec x) { return x < 0 ? -x : x; }

// ln(1 + u) for 0 <= u <= 1
#ifdef POSLAB_DOUBLE
inline Vec log_of_one_plus(Vec u) {
  for (int i = 0; i < lanes; ++i) u[i] = std::log1p(u[i]);
  return u;
}
#else
// ln((1 + s) / (1 - s)) for |s| <= 1/3, by a Chebyshev fit of our own, within 1e-8
inline Vec log_of_ratio(Vec s) {
  const Vec z = s * s;
  Vec p = splat(0.23224329f);
  p = p * z + 0.21706576f;
  p = p * z + 0.28592358f;
  p = p * z + 0.39999706f;
  p = p * z + 0.66666667f;
  return s * 2.f + s * z * p;
}
inline Vec log_of_one_plus(Vec u) {  // u itself if it is tiny: its square would be subnormal
  const Vec in = max(splat(1e-8f), u);
  return u < 1e-8f ? u : log_of_ratio(in / (in + 2.f));
}
#endif

inline Vec sigmoid(Vec x) { return real(1) / (exp(-x) + real(1)); }

}  // namespace poslab::POSLAB_ISA
