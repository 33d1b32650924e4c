// What LayerNorm does with one row that a team of threads holds (cuda/rows.cuh).
#pragma once
#include "cuda/rows.cuh"

namespace poslab::cuda {

constexpr real norm_epsilon = real(1e-5);

// 1 / sqrt(variance + epsilon) of the row x, whose first panel is v.
template <int team>
__device__ inline real inverse_deviation(const Row<team>& row, real (&v)[per_thread], const real* x, real mean) {
  real squares = 0;
  for (int p = 0; p < row.end(); p += row.panel) {
    if (row.again()) row.read(v, x, p, 0);
    for (int k = 0; k < per_thread; ++k) {
      const real off = row.column(p, k) < row.n ? v[k] - mean : real(0);
      squares += off * off;
    }
  }
  return 1 / std::sqrt(team_sum<team>(squares) / real(row.width) + norm_epsilon);
}

// y = gain (in - mean) / std + bias, where v is in's first panel and `sum` this thread's part of the row's.
template <int team>
__device__ inline void write_normed(const Row<team>& row, real* y, real (&v)[per_thread], real sum, const real* in,
                                    const real* gain, const real* bias) {
  const real mean = team_sum<team>(sum) / real(row.width);
  const real inverse = inverse_deviation(row, v, in, mean);
  for (int p = 0; p < row.end(); p += row.panel) {
    if (row.again()) row.read(v, in, p, 0);
    real factor[per_thread], more[per_thread];
    row.read_columns(factor, gain, p, 0), row.read_columns(more, bias, p, 0);
    for (int k = 0; k < per_thread; ++k) v[k] = factor[k] * ((v[k] - mean) * inverse) + more[k];
    row.write(y, v, p);
  }
}

}  // namespace poslab::cuda
