// LayerNorm of rows, forward and backward, for norm.cu and residual_norm.cu. With h = (x - mean) / std and g = dy gain:
//   y = gain h + bias     dx = (g - mean(g) - h mean(g h)) / std     dgain = sum dy h     dbias = sum dy
// A block sums dgain and dbias of its rows, cuda/sums.h adds up the blocks. Read cuda/naive/norm.cu first.
#pragma once
#include "cuda/dropout.cuh"
#include "cuda/norm_row.cuh"
#include "cuda/sums.h"

namespace poslab::cuda {
namespace {

constexpr int max_partial_sums = 3 * multiprocessors;     // blocks of a backward pass, 3 for each multiprocessor

// y = norm(s), s = x + dropout(z); without z, s is x and not written.
template <int team>
__global__ void norm_rows(real* y, real* s, const real* x, const real* z, const real* gain, const real* bias,
                          int64_t rows, int n, DropoutArgs drop) {
  for (Row<team> row(rows, n); row.any(); row.next()) {
    real v[per_thread], sum = 0;
    for (int p = 0; p < row.end(); p += row.panel) {
      row.read(v, x, p, 0);
      if (z) {
        real more[per_thread];
        row.read(more, z, p, 0);
        const Factors<row.lanes> kept(drop, row.start() + p + row.first - row.lane);
        for (int k = 0; k < per_thread; ++k) v[k] += more[k] * kept.of(k);
        row.write(s, v, p);
      }
      for (int k = 0; k < per_thread; ++k) sum += v[k];
    }
    write_normed(row, y, v, sum, z ? s : x, gain, bias);
  }
}

// dx += ds, dz += dropout(ds), and `partial` (blocks, 2, n) of dgain and dbias, if it is wanted. The sums of rows of
// one panel are kept in registers, and the teams of the block meet in shared memory; longer rows belong to a whole
// block, whose threads keep the sums of their columns in `partial` itself.
template <int team>
__global__ __launch_bounds__(threads, 3)     // registers for no more than lets 3 blocks on an SM
void norm_rows_backward(Accumulator dx, Accumulator dz, real* partial, const real* dy, const real* x, const real* gain,
                        int64_t rows, int n, DropoutArgs drop) {
  SHARED(real, sums, 17 * threads);
  Row<team> row(rows, n);
  const bool again = row.again();
  real gain_sum[per_thread] = {}, bias_sum[per_thread] = {};
  real* const partial_of_block = partial ? partial + int64_t(blockIdx.x) * 2 * n : nullptr;
  bool started = false;                      // partial_of_block has been written to
  for (; row.any(); row.next(), started = true) {
    real v[per_thread], d[per_thread], factor[per_thread], sum = 0;
    for (int p = 0; p < row.end(); p += row.panel) {
      row.read(v, x, p, 0);
      if (!again) row.read(d, dy, p, 0), row.read_columns(factor, gain, p, 0);
      for (int k = 0; k < per_thread; ++k) sum += v[k];
    }
    const real mean = team_sum<team>(sum) / real(n), inverse = inverse_deviation(row, v, x, mean);

    real g_sum = 0, gh_sum = 0;
    for (int p = 0; p < row.end(); p += row.panel) {
      if (again) row.read(v, x, p, 0), row.read(d, dy, p, 0), row.read_columns(factor, gain, p, 0);
      for (int k = 0; k < per_thread; ++k) {
        const int j = row.column(p, k);
        const real h = (v[k] - mean) * inverse, g = d[k] * factor[k];     // beyond the row d = 0
        g_sum += g, gh_sum += g * h;
        if (again && partial_of_block && j < row.n) {
          partial_of_block[j] = d[k] * h + (started ? partial_of_block[j] : real(0));
          partial_of_block[n + j] = d[k] + (started ? partial_of_block[n + j] : real(0));
        }
        gain_sum[k] += d[k] * h, bias_sum[k] += d[k];
        v[k] = h, d[k] = g;
      }
    }
    const real g_mean = team_sum<team>(g_sum) / real(n), gh_mean = team_sum<team>(gh_sum) / real(n);

    for (int p = 0; p < row.end() && (dx.at || dz.at); p += row.panel) {
      if (again) row.read(v, x, p, 0), row.read(d, dy, p, 0), row.read_columns(factor, gain, p, 0);
      for (int k = 0; k < per_thread; ++k) {
        if (again) v[k] = (v[k] - mean) * inverse, d[k] *= factor[k];
        v[k] = (d[k] - g_mean - v[k] * gh_mean) * inverse;
      }
      if (dx.at) row.add(dx, v, p);
      if (!dz.at) continue;
      const Factors<row.lanes> kept(drop, row.start() + p + row.first - row.lane);
      for (int k = 0; k < per_thread; ++k) v[k] *= kept.of(k);
      row.add(dz, v, p);
    }
  }

  if (!partial_of_block || again) return;
  constexpr int panel = row.panel, pitch = 2 * panel + team;         // the teams of a warp meet in no bank
  const int place = int(threadIdx.x) / team * pitch;
  for (int k = 0; k < per_thread; ++k) sums[place + row.column(0, k)] = gain_sum[k];
  for (int k = 0; k < per_thread; ++k) sums[place + row.column(panel, k)] = bias_sum[k];
  __syncthreads();
  for (int c = int(threadIdx.x); c < 2 * panel; c += threads) {
    if (c % panel >= n) continue;
    real total = sums[c];
    for (int t = 1; t < row.together; ++t) total += sums[t * pitch + c];
    partial_of_block[c / panel * n + c % panel] = total;
  }
}

void norm_forward(real* y, real* s, const real* x, const real* z, const real* gain, const real* bias, int64_t rows,
                  int n, const DropoutArgs& drop) {
  launch(for_team(n, norm_rows<8>, norm_rows<warp>, norm_rows<threads>), row_blocks(rows, n), threads, y, s, x, z,
         gain, bias, rows, n, drop);
}

void norm_backward_of(const Accumulator& dx, const Accumulator& dz, const Accumulator& dgain, const Accumulator& dbias,
                      const real* dy, const real* x, const real* gain, int64_t rows, int n, const DropoutArgs& drop) {
  const bool sums = dgain || dbias;
  if (!dx && !dz && !sums) return;
  const int all = row_blocks(rows, n), blocks = all < max_partial_sums ? all : max_partial_sums;
  real* partial = sums ? room_for_sums(int64_t(blocks) * 2 * n) : nullptr;
  launch(for_team(n, norm_rows_backward<8>, norm_rows_backward<warp>, norm_rows_backward<threads>), blocks, threads, dx,
         dz, partial, dy, x, gain, rows, n, drop);
  if (sums)
    add_up_later({dgain, partial, n, 2 * n, blocks}), add_up_later({dbias, partial + n, n, 2 * n, blocks});
}

}  // namespace
}  // namespace poslab::cuda
