// LayerNorm and RMSNorm of s = x + dropout(z), or of x: a warp takes a row. The fast version is cuda/norm.cu.
//
//   y = gain h + bias,  h = (s - mean) / std, mean and std of each row             s, y: (rows, n)   gain, bias: (n)
//   with g = dy gain:   d = ds + (g - mean(g) - h mean(g h)) / std     dgain += sum dy h     dbias += sum dy
//   RMSNorm: std = sqrt(mean(s^2) + epsilon), and neither mean nor mean(g) nor bias
//   dx += d     dz += dropout(d)
//
// Cost, with rows = 128 x 80 and n = 64, which are 655,360 numbers: forward, s is loaded three times, for the
// mean, for the variance and for y. Backward it is loaded five times and dy three times: a warp goes over its row four
// times, and then a thread takes a column of dgain and dbias and goes over all 10,240 rows. These are 64 threads; an
// H100 has room for 270,336. RMSNorm makes one pass fewer. With z, s is made and stored first: x and z are loaded
// once more, s is stored once, and 655,360 calls of Philox decide the dropout. Backward, d is stored and loaded again.
//
// How the fast version differs, step by step:
//   1. A row stays in the registers of its threads, 8 numbers each: s and dy are loaded once (cuda/rows.cuh).
//   2. A row of 64 has 8 threads, so that a warp has four rows, and no lane is idle while another adds up.
//   3. Each block sums dgain and dbias of the rows that it has in registers anyway. Only these partial sums, one row
//      for each of at most 396 blocks, are added up afterwards (cuda/sums.cu).
//   4. Sum, dropout and norm are one launch: s is stored for the backward pass and not loaded, d never goes to memory.
//   5. A call of Philox decides over eight numbers, and shuffles pass its bits on: 81,920 calls (cuda/dropout.cuh).
//   6. Where z is a product that is just being made, its tile has whole rows, and the block goes on to their norm: z is
//      not loaded, and there is one launch fewer.
#include <cmath>

#include "cuda/dropout.cuh"
#include "cuda/naive/warps.cuh"

namespace poslab::cuda::naive {
namespace {

struct Moments { real mean, inverse; };                       // a row's mean and 1 / std
__device__ Moments moments(NormKind kind, const real* s, int n, real epsilon) {
  real sum = 0, squares = 0;
  for (int j = lane(); j < n; j += warp) sum += s[j];
  const real mean = kind == NormKind::rms ? real(0) : warp_sum(sum) / real(n);
  for (int j = lane(); j < n; j += warp) squares += (s[j] - mean) * (s[j] - mean);
  return {mean, 1 / std::sqrt(warp_sum(squares) / real(n) + epsilon)};
}

__global__ void norm_rows(real* y, const real* s, const real* gain, const real* bias, NormKind kind, int64_t rows,
                          int n, real epsilon) {
  for (const int64_t i : warps(rows)) {
    const auto [mean, inverse] = moments(kind, s + i * n, n, epsilon);
    for (int j = lane(); j < n; j += warp)
      y[i * n + j] = gain[j] * ((s[i * n + j] - mean) * inverse) + (bias ? bias[j] : real(0));
  }
}

// kept: (rows, 2), mean and 1 / std of each row, for the sums over rows
__global__ void of_rows(real* d, real* kept, const real* dy, const real* s, const real* gain, NormKind kind,
                        int64_t rows, int n, real epsilon) {
  for (const int64_t i : warps(rows)) {
    const auto [mean, inverse] = moments(kind, s + i * n, n, epsilon);
    real g_sum = 0, gh_sum = 0;
    for (int j = lane(); j < n; j += warp) {
      const real h = (s[i * n + j] - mean) * inverse, g = dy[i * n + j] * gain[j];
      g_sum += g, gh_sum += g * h;
    }
    const real g_mean = kind == NormKind::rms ? real(0) : warp_sum(g_sum) / real(n);
    const real gh_mean = warp_sum(gh_sum) / real(n);
    for (int j = lane(); j < n; j += warp) {
      const real h = (s[i * n + j] - mean) * inverse, g = dy[i * n + j] * gain[j];
      d[i * n + j] = (g - g_mean - h * gh_mean) * inverse;
    }
    if (lane() == 0) kept[2 * i] = mean, kept[2 * i + 1] = inverse;
  }
}

__global__ void of_columns(Accumulator dgain, Accumulator dbias, const real* dy, const real* s, const real* kept,
                           int64_t rows, int n) {
  for (const int64_t j : all(n)) {
    real of_gain = 0, of_bias = 0;
    for (int64_t i = 0; i < rows; ++i) {
      const real h = (s[i * n + j] - kept[2 * i]) * kept[2 * i + 1];
      of_gain += dy[i * n + j] * h, of_bias += dy[i * n + j];
    }
    if (dgain.at) add_to(dgain, j, of_gain);
    if (dbias.at) add_to(dbias, j, of_bias);
  }
}

// keep_e / (1 - rate) of element e. One Philox call decides over eight elements, and each of the eight
// threads makes the same one.
__device__ real dropout_factor(const DropoutArgs& drop, int64_t e) {
  if (!drop.stream) return 1;
  return Factors<8>::keep_bits(uint64_t(e / 8), *drop.stream, drop.threshold) >> e % 8 & 1 ? drop.scale : real(0);
}

__global__ void add_dropped(real* s, const real* x, const real* z, int64_t n, DropoutArgs drop) {
  for (const int64_t e : all(n)) s[e] = x[e] + z[e] * dropout_factor(drop, e);
}

// d = a + b; either may be null
__global__ void hand_on(Accumulator dx, Accumulator dz, const real* a, const real* b, int64_t n, DropoutArgs drop) {
  for (const int64_t e : all(n)) {
    const real d = (a ? a[e] : real(0)) + (b ? b[e] : real(0));
    if (dx.at) add_to(dx, e, d);
    if (dz.at) add_to(dz, e, d * dropout_factor(drop, e));
  }
}

}  // namespace

void norm(real* y, real* s, const real* x, const real* z, const real* gain, const real* bias, const NormForm& form) {
  const auto& [kind, rows, n, epsilon, drop] = form;
  if (z) launch(add_dropped, blocks_for(rows * n), threads, s, x, z, rows * n, dropout_args(drop));
  launch(norm_rows, blocks_for(rows * warp), threads, y, z ? s : x, gain, bias, kind, rows, n, epsilon);
}

void norm_backward(Accumulator dx, Accumulator dz, Accumulator dgain, Accumulator dbias, const real* ds,
                   const real* dy, const real* s, const real* gain, const NormForm& form) {
  const auto& [kind, rows, n, epsilon, drop] = form;
  real* const kept = scratch(1, 2 * rows);
  real* const of_norm = dy ? scratch(2, rows * n) : nullptr;
  if (dy) launch(of_rows, blocks_for(rows * warp), threads, of_norm, kept, dy, s, gain, kind, rows, n, epsilon);
  if (dgain || dbias) launch(of_columns, blocks_for(n), threads, dgain, dbias, dy, s, kept, rows, n);
  launch(hand_on, blocks_for(rows * n), threads, dx, dz, ds, of_norm, rows * n, dropout_args(drop));
}

}  // namespace poslab::cuda::naive
