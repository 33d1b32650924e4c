// RMSNorm of rows, forward and backward, for rms_norm.cu and residual_rms_norm.cu. With h = x / rms and g = dy gain:
//   y = gain h     dx = (g - h mean(g h)) / rms     dgain = sum dy h
// A block sums dgain of its rows, cuda/sums.h adds up the blocks. Read cuda/naive/rms_norm.cu first.
#pragma once
#include "cuda/dropout.cuh"
#include "cuda/rows.cuh"
#include "cuda/sums.h"

namespace poslab::cuda {
namespace {

constexpr int max_rms_norm_blocks = 3 * multiprocessors;     // of a backward pass, 3 for each multiprocessor

// y = rms_norm(s), s = x + dropout(z); without z, s is x and not written.
template <int team>
__global__ void rms_norm_rows(real* s, real* y, const real* x, const real* z, const real* gain, int64_t rows, int n,
                              real epsilon, DropoutArgs drop) {
  for (Row<team> row(rows, n); row.any(); row.next()) {
    real v[per_thread], squares = 0;
    for (int p = 0; p < row.end(); p += row.panel) {
      row.read(v, x, p, 0);
      if (z) {
        real more[per_thread];
        row.read(more, z, p, 0);
        const Factors<row.lanes> kept(drop, row.start() + p + row.first - row.lane);
        for (int k = 0; k < per_thread; ++k) v[k] += more[k] * kept.of(k);
        row.write(s, v, p);
      }
      for (int k = 0; k < per_thread; ++k) squares += v[k] * v[k];
    }
    const real inverse = 1 / std::sqrt(team_sum<team>(squares) / real(n) + epsilon);
    for (int p = 0; p < row.end(); p += row.panel) {
      if (row.again()) row.read(v, z ? s : x, p, 0);
      real factor[per_thread];
      row.read_columns(factor, gain, p, 0);
      for (int k = 0; k < per_thread; ++k) v[k] = factor[k] * (v[k] * inverse);
      row.write(y, v, p);
    }
  }
}

// dx += d, dz += dropout(d), d = ds + the gradient at x, and `partial` (blocks, n) of dgain, if it is wanted. ds or dy
// may be null. The sums of rows of one panel are kept in registers, and the teams of the block meet in shared memory;
// longer rows belong to a whole block, whose threads keep the sums of their columns in `partial` itself.
template <int team>
__global__ __launch_bounds__(threads, 2)     // 3 blocks on an SM would leave too few registers: 72 bytes spilled
void rms_norm_rows_backward(Accumulator dx, Accumulator dz, real* partial, const real* ds, const real* dy,
                            const real* x, const real* gain, int64_t rows, int n, real epsilon, DropoutArgs drop) {
  SHARED(real, sums, 9 * threads);
  Row<team> row(rows, n);
  const bool again = row.again();
  real gain_sum[per_thread] = {};
  real* const block_sum = partial ? partial + int64_t(blockIdx.x) * n : nullptr;
  bool started = false;                      // block_sum has been written to
  for (; row.any(); row.next(), started = true) {
    real v[per_thread] = {}, d[per_thread] = {}, factor[per_thread] = {}, squares = 0, gh_sum = 0, inverse = 0;
    for (int p = 0; dy && p < row.end(); p += row.panel) {
      row.read(v, x, p, 0);
      for (int k = 0; k < per_thread; ++k) squares += v[k] * v[k];
    }
    if (dy) inverse = 1 / std::sqrt(team_sum<team>(squares) / real(n) + epsilon);
    for (int p = 0; dy && p < row.end(); p += row.panel) {
      if (again) row.read(v, x, p, 0);
      row.read(d, dy, p, 0), row.read_columns(factor, gain, p, 0);
      for (int k = 0; k < per_thread; ++k) {
        const int j = row.column(p, k);
        const real dh = d[k] * (v[k] * inverse);                         // beyond the row d = 0
        gh_sum += dh * factor[k], gain_sum[k] += dh;
        if (again && block_sum && j < row.n) block_sum[j] = dh + (started ? block_sum[j] : real(0));
      }
    }
    const real gh_mean = dy ? team_sum<team>(gh_sum) / real(n) : real(0);

    for (int p = 0; p < row.end() && (dx.at || dz.at); p += row.panel) {
      if (again && dy) row.read(v, x, p, 0), row.read(d, dy, p, 0), row.read_columns(factor, gain, p, 0);
      real own[per_thread];
      for (int k = 0; k < per_thread; ++k) own[k] = (d[k] * factor[k] - v[k] * inverse * gh_mean) * inverse;
      if (ds) {
        real more[per_thread];
        row.read(more, ds, p, 0);
        for (int k = 0; k < per_thread; ++k) own[k] += more[k];
      }
      if (dx.at) row.add(dx, own, p);
      if (!dz.at) continue;
      const Factors<row.lanes> kept(drop, row.start() + p + row.first - row.lane);
      for (int k = 0; k < per_thread; ++k) own[k] *= kept.of(k);
      row.add(dz, own, p);
    }
  }

  if (!block_sum || again) return;
  constexpr int panel = row.panel, pitch = panel + team;             // the teams of a warp meet in no bank
  const int place = int(threadIdx.x) / team * pitch;
  for (int k = 0; k < per_thread; ++k) sums[place + row.column(0, k)] = gain_sum[k];
  __syncthreads();
  for (int c = int(threadIdx.x); c < n; c += threads) {
    real total = sums[c];
    for (int t = 1; t < row.together; ++t) total += sums[t * pitch + c];
    block_sum[c] = total;
  }
}

void rms_norm_forward(real* s, real* y, const real* x, const real* z, const real* gain, int64_t rows, int n,
                      real epsilon, const DropoutArgs& drop) {
  launch(for_team(n, rms_norm_rows<8>, rms_norm_rows<warp>, rms_norm_rows<threads>), row_blocks(rows, n), threads, s, y,
         x, z, gain, rows, n, epsilon, drop);
}

void rms_norm_backward_of(const Accumulator& dx, const Accumulator& dz, const Accumulator& dgain, const real* ds,
                          const real* dy, const real* x, const real* gain, int64_t rows, int n, real epsilon,
                          const DropoutArgs& drop) {
  if (!dx && !dz && !dgain) return;
  const int all = row_blocks(rows, n), blocks = all < max_rms_norm_blocks ? all : max_rms_norm_blocks;
  real* partial = dgain ? room_for_sums(int64_t(blocks) * n) : nullptr;
  launch(for_team(n, rms_norm_rows_backward<8>, rms_norm_rows_backward<warp>, rms_norm_rows_backward<threads>), blocks,
         threads, dx, dz, partial, ds, dy, x, gain, rows, n, epsilon, drop);
  add_up_later({dgain, partial, n, n, blocks});
}

}  // namespace
}  // namespace poslab::cuda
