// The optimizer over the flat buffer of all parameters, and the sum of squares that clipping needs.
#include <cmath>

#include "core/kernels.h"
#include "core/memory.h"
#include "core/platform/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

constexpr int64_t grain = 8192;

// Moments below these limits count as 0, and so do gradients that would cause them: the first moment of a dead unit
// shrinks for ever and soon becomes subnormal, which is slow. With epsilon = 1e-8 this changes no weight above 1e-18
// (nn/adam.h refuses epsilon below 1e-12).
constexpr real tiny = real(1e-30), tiny_square = real(1e-35), no_square = real(1e-16);
inline real zero_below(real limit, real x) { return std::abs(x) < limit ? real(0) : x; }

}  // namespace

void squares(double* sum_of_all, const real* x, int64_t n) {
  const int64_t pieces = (n + grain - 1) / grain;
  double* partial = reinterpret_cast<double*>(scratch(0, pieces * int64_t(sizeof(double) / sizeof(real))));
  parallel_ranges(n, grain, [&](int64_t from, int64_t to) {
    double sum[16] = {};   // 16 independent sums, because an addition takes four cycles
    int64_t e = from;
    for (; e + 16 <= to; e += 16)
      for (int k = 0; k < 16; ++k) sum[k] += double(x[e + k]) * double(x[e + k]);
    for (; e < to; ++e) sum[0] += double(x[e]) * double(x[e]);
    for (int k = 1; k < 16; ++k) sum[0] += sum[k];
    partial[from / grain] = sum[0];
  });
  double total = 0;
  for (int64_t i = 0; i < pieces; ++i) total += partial[i];
  *sum_of_all = total;
}

void adam(real* p, real* m, real* v, const real* g, int64_t n, const double* squares, AdamStep s) {
  const double norm = std::sqrt(*squares);
  if (!std::isfinite(norm)) return;
  const real clipped = norm > double(s.clip) ? real(double(s.clip) / norm) : real(1);
  const real step = s.lr / s.correction1, scale = 1 / s.correction2;
  parallel_ranges(n, grain, [&](int64_t from, int64_t to) {
#pragma GCC ivdep
    for (int64_t e = from; e < to; ++e) {
      const real gradient = zero_below(tiny, g[e]) * clipped, large = zero_below(no_square, gradient);
      m[e] = zero_below(tiny, s.beta1 * m[e] + (1 - s.beta1) * gradient);
      v[e] = zero_below(tiny_square, s.beta2 * v[e] + (1 - s.beta2) * large * large);
      p[e] = s.keep * p[e] - step * m[e] / (std::sqrt(v[e] * scale) + s.epsilon);
    }
  });
}

}  // namespace poslab::POSLAB_ISA
