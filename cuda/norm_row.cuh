// LayerNorm and RMSNorm of one row that a team of threads holds (cuda/rows.cuh).
#pragma once
#include "cuda/rows.cuh"

namespace poslab::cuda {

struct Moments { real mean, inverse; };      // h = (x - mean) inverse; inverse = 1 / std

// The terms of a row's first sum: its numbers, or their squares.
template <NormKind kind>
__device__ inline real term(real x) { return kind == NormKind::layer ? x : x * x; }

// The moments of the row x, whose first panel is v; `sum` is this thread's part of the sum of terms.
template <NormKind kind, int team>
__device__ inline Moments moments(const Row<team>& row, real (&v)[per_thread], real sum, const real* x, real epsilon) {
  const real mean = team_sum<team>(sum) / real(row.width);
  if constexpr (kind == NormKind::rms) return {0, 1 / std::sqrt(mean + epsilon)};
  real squares = 0;
  for (int p = 0; p < row.end(); p += row.panel) {
    if (row.again()) row.read(v, x, p, 0);
    for (int k = 0; k < per_thread; ++k) {
      const real off = row.column(p, k) < row.n ? v[k] - mean : real(0);
      squares += off * off;
    }
  }
  return {mean, 1 / std::sqrt(team_sum<team>(squares) / real(row.width) + epsilon)};
}

// y = gain h + bias, without bias in RMSNorm. v is the first panel of `in`, and `sum` as above.
template <NormKind kind, int team>
__device__ inline void write_normed(const Row<team>& row, real* y, real (&v)[per_thread], real sum, const real* in,
                                    const real* gain, const real* bias, real epsilon) {
  const auto [mean, inverse] = moments<kind>(row, v, sum, in, epsilon);
  for (int p = 0; p < row.end(); p += row.panel) {
    if (row.again()) row.read(v, in, p, 0);
    real factor[per_thread], more[per_thread] = {};
    row.read_columns(factor, gain, p, 0);
    if (kind == NormKind::layer) row.read_columns(more, bias, p, 0);
    for (int k = 0; k < per_thread; ++k) v[k] = factor[k] * ((v[k] - mean) * inverse) + more[k];
    row.write(y, v, p);
  }
}

}  // namespace poslab::cuda
