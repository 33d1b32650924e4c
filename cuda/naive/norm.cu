// LayerNorm: a warp has a row. The fast form is cuda/norm.cuh.
//
//   y = gain h + bias,  h = (x - mean) / std, mean and std of each row             x, y: (rows, n)   gain, bias: (n)
//   with g = dy gain:   dx += (g - mean(g) - h mean(g h)) / std     dgain += sum dy h     dbias += sum dy
//
// What it costs, with rows = 128 x 80 and n = 64, which are 655,360 numbers: forward, x is loaded three times, for the
// mean, for the variance and for y. Backward it is loaded five times and dy three times: a warp goes over its row four
// times, and then a thread has a column of dgain and dbias and goes over all 10,240 rows. These are 64 threads; an
// H100 has room for 270,336.
//
// What the fast form does differently, step by step:
//   1. A row stays in the registers of its threads, 8 numbers each: x and dy are loaded once (cuda/rows.cuh).
//   2. A row of 64 has 8 threads, so that a warp has four rows, and no lane is idle while another adds up.
//   3. Each block sums dgain and dbias of the rows that it has in registers anyway. Only these partial sums, one row
//      for each of at most 384 blocks, are added up afterwards (cuda/sums.cu).
#include <cmath>

#include "cuda/naive/warps.cuh"

namespace poslab::cuda::naive {
namespace {

struct Moments { real mean, inverse; };                       // of a row; 1 / sqrt(variance + epsilon)
__device__ Moments moments(const real* x, int n) {
  real sum = 0, squares = 0;
  for (int j = lane(); j < n; j += warp) sum += x[j];
  const real mean = warp_sum(sum) / real(n);
  for (int j = lane(); j < n; j += warp) squares += (x[j] - mean) * (x[j] - mean);
  return {mean, 1 / std::sqrt(warp_sum(squares) / real(n) + real(1e-5))};
}

__global__ void norm_rows(real* y, const real* x, const real* gain, const real* bias, int64_t rows, int n) {
  for (const int64_t i : warps(rows)) {
    const auto [mean, inverse] = moments(x + i * n, n);
    for (int j = lane(); j < n; j += warp) y[i * n + j] = gain[j] * ((x[i * n + j] - mean) * inverse) + bias[j];
  }
}

// kept: (rows, 2), mean and 1 / std of each row, for what collects over rows
__global__ void of_rows(Accumulator dx, real* kept, const real* dy, const real* x, const real* gain, int64_t rows,
                        int n) {
  for (const int64_t i : warps(rows)) {
    const auto [mean, inverse] = moments(x + i * n, n);
    real g_sum = 0, gh_sum = 0;
    for (int j = lane(); j < n; j += warp) {
      const real h = (x[i * n + j] - mean) * inverse, g = dy[i * n + j] * gain[j];
      g_sum += g, gh_sum += g * h;
    }
    const real g_mean = warp_sum(g_sum) / real(n), gh_mean = warp_sum(gh_sum) / real(n);
    for (int j = lane(); j < n && dx.at; j += warp) {
      const real h = (x[i * n + j] - mean) * inverse, g = dy[i * n + j] * gain[j];
      add_to(dx, i * n + j, (g - g_mean - h * gh_mean) * inverse);
    }
    if (lane() == 0) kept[2 * i] = mean, kept[2 * i + 1] = inverse;
  }
}

__global__ void of_columns(Accumulator dgain, Accumulator dbias, const real* dy, const real* x, const real* kept,
                           int64_t rows, int n) {
  for (const int64_t j : all(n)) {
    real of_gain = 0, of_bias = 0;
    for (int64_t i = 0; i < rows; ++i) {
      const real h = (x[i * n + j] - kept[2 * i]) * kept[2 * i + 1];
      of_gain += dy[i * n + j] * h, of_bias += dy[i * n + j];
    }
    if (dgain.at) add_to(dgain, j, of_gain);
    if (dbias.at) add_to(dbias, j, of_bias);
  }
}

}  // namespace

void norm(real* y, const real* x, const real* gain, const real* bias, int64_t rows, int n) {
  launch(norm_rows, blocks_for(rows * warp), threads, y, x, gain, bias, rows, n);
}

void norm_backward(Accumulator dx, Accumulator dgain, Accumulator dbias, const real* dy, const real* x,
                   const real* gain, int64_t rows, int n) {
  real* const kept = scratch(1, 2 * rows);
  launch(of_rows, blocks_for(rows * warp), threads, dx, kept, dy, x, gain, rows, n);
  if (dgain || dbias) launch(of_columns, blocks_for(n), threads, dgain, dbias, dy, x, kept, rows, n);
}

}  // namespace poslab::cuda::naive
