// RMSNorm: a warp has a row, as in cuda/naive/norm.cu, which says what it costs. The fast form is cuda/rms_norm.cuh.
//
//   y = gain h,  h = x / rms,  rms_i = sqrt(mean_j x_ij^2 + epsilon)                        x, y: (rows, n)   gain: (n)
//   with g = dy gain:   dx += (g - h mean(g h)) / rms     dgain += sum dy h
//
// Without a mean it goes over a row once less: x is loaded twice forward, four times backward. The steps to the fast
// form are those of LayerNorm.
#include <cmath>

#include "cuda/naive/warps.cuh"

namespace poslab::cuda::naive {
namespace {

__device__ real inverse_rms(const real* x, int n, real epsilon) {
  real squares = 0;
  for (int j = lane(); j < n; j += warp) squares += x[j] * x[j];
  return 1 / std::sqrt(warp_sum(squares) / real(n) + epsilon);
}

__global__ void rms_norm_rows(real* y, const real* x, const real* gain, int64_t rows, int n, real epsilon) {
  for (const int64_t i : warps(rows)) {
    const real inverse = inverse_rms(x + i * n, n, epsilon);
    for (int j = lane(); j < n; j += warp) y[i * n + j] = gain[j] * (x[i * n + j] * inverse);
  }
}

// kept: (rows), 1 / rms of each row, for what collects over rows
__global__ void of_rows(Accumulator dx, real* kept, const real* dy, const real* x, const real* gain, int64_t rows,
                        int n, real epsilon) {
  for (const int64_t i : warps(rows)) {
    const real inverse = inverse_rms(x + i * n, n, epsilon);
    real gh_sum = 0;
    for (int j = lane(); j < n; j += warp) gh_sum += dy[i * n + j] * gain[j] * (x[i * n + j] * inverse);
    const real gh_mean = warp_sum(gh_sum) / real(n);
    for (int j = lane(); j < n && dx.at; j += warp)
      add_to(dx, i * n + j, (dy[i * n + j] * gain[j] - x[i * n + j] * inverse * gh_mean) * inverse);
    if (lane() == 0) kept[i] = inverse;
  }
}

__global__ void of_columns(Accumulator dgain, const real* dy, const real* x, const real* kept, int64_t rows, int n) {
  for (const int64_t j : all(n)) {
    real sum = 0;
    for (int64_t i = 0; i < rows; ++i) sum += dy[i * n + j] * (x[i * n + j] * kept[i]);
    add_to(dgain, j, sum);
  }
}

}  // namespace

void rms_norm(real* y, const real* x, const real* gain, int64_t rows, int n, real epsilon) {
  launch(rms_norm_rows, blocks_for(rows * warp), threads, y, x, gain, rows, n, epsilon);
}

void rms_norm_backward(Accumulator dx, Accumulator dgain, const real* dy, const real* x, const real* gain, int64_t rows,
                       int n, real epsilon) {
  real* const kept = scratch(1, rows);
  launch(of_rows, blocks_for(rows * warp), threads, dx, kept, dy, x, gain, rows, n, epsilon);
  if (dgain) launch(of_columns, blocks_for(n), threads, dgain, dy, x, kept, rows, n);
}

}  // namespace poslab::cuda::naive
