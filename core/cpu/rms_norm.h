// RMSNorm of one row of n reals, forward and backward: shared by rms_norm.cpp and residual_rms_norm.cpp.
#pragma once
#include "core/cpu/norm.h"

namespace poslab::POSLAB_ISA {

// 1 / sqrt(mean(x^2) + epsilon)
[[gnu::always_inline]] inline real inverse_rms(const real* x, int n, real epsilon) {
  return 1 / std::sqrt(dot_row(x, x, n) / real(n) + epsilon);
}

// y = gain x / rms
[[gnu::always_inline]] inline void rms_norm_row(real* y, const real* x, const real* gain, int n, real epsilon) {
  const real inverse = inverse_rms(x, n, epsilon);
  write_row(y, false, n,
            [&](int j, int count) { return load_some(gain + j, count) * (load_some(x + j, count) * inverse); });
}

// With h = x / rms and g = dy gain: dx = ds + (g - h mean(g h)) / rms into `dx`, overwriting it; ds may be null. dgain
// of this row is added to `sums`.
[[gnu::always_inline]] inline void rms_norm_row_backward(real* dx, real* sums, const real* ds, const real* dy,
                                                         const real* x, const real* gain, int n, real epsilon) {
  const real inverse = inverse_rms(x, n, epsilon);
  Vec total{};
  for_vectors(n, [&](int j, int count) {
    const Vec dh = load_some(dy + j, count) * (load_some(x + j, count) * inverse);
    total += dh * load_some(gain + j, count);
    store_some(sums + j, load_some(sums + j, count) + dh, count);
  });
  const real mean = sum_lanes(total) / real(n);
  write_row(dx, false, n, [&](int j, int count) {
    const Vec h = load_some(x + j, count) * inverse;
    const Vec d = (load_some(dy + j, count) * load_some(gain + j, count) - h * mean) * inverse;
    return ds ? load_some(ds + j, count) + d : d;
  });
}

}  // namespace poslab::POSLAB_ISA
