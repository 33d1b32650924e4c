// y_j = exp(x_j - m) / sum_k exp(x_k - m), m = max_k x_k, of one row: for softmax.cu and cross_entropy.cu.
#pragma once
#include "cuda/rows.cuh"

namespace poslab::cuda {

struct Normalizer { real top, sum; };      // m and the sum

template <int team>
__device__ inline Normalizer softmax_row(const Row<team>& row, real* y, const real* x) {
  real v[per_thread], top = -INFINITY, sum = 0;
  const bool again = row.again();
  for (int p = 0; p < row.end(); p += row.panel) {
    row.read(v, x, p, -INFINITY);
    for (int k = 0; k < per_thread; ++k) top = v[k] > top ? v[k] : top;
  }
  top = team_max<team>(top);
  for (int p = 0; p < row.end(); p += row.panel) {
    if (again) row.read(v, x, p, -INFINITY);
    for (int k = 0; k < per_thread; ++k) v[k] = std::exp(v[k] - top), sum += v[k];
  }
  sum = team_sum<team>(sum);
  const real scale = 1 / sum;
  for (int p = 0; p < row.end(); p += row.panel) {
    if (again) row.read(v, x, p, -INFINITY);
    for (int k = 0; k < per_thread; ++k) v[k] = (again ? std::exp(v[k] - top) : v[k]) * scale;
    row.write(y, v, p);
  }
  return {top, sum};
}

}  // namespace poslab::cuda
