// Rows of n numbers, each the work of a team of threads: 8 lanes of a warp (n <= 64), a warp (n <= 256) or a block.
// Each thread holds 8 numbers in registers, and its team a panel of the row; a longer row has several panels, and they
// are read again in every pass.
//
//   for (Row<team> row(rows, n); row.any(); row.next())
//     for (int p = 0; p < row.end(); p += row.panel) { row.read(v, x, p, 0); ...; row.write(y, v, p); }
#pragma once
#include <cmath>

#include "cuda/launch.h"

namespace poslab::cuda {

constexpr int per_thread = 8;

// All threads of a block go through the loop until the block has no row left, because they meet in shuffles and
// barriers. A team without a row gets one with no columns.
template <int team>
struct Row {
  static constexpr int lanes = team < warp ? team : warp, panel = per_thread * team, together = threads / team;
  int64_t i, rows;
  int width, n;                    // n: columns of this row, width or 0
  int lane, first;                 // column in a panel, the others are `lanes` apart: a warp has 256 side by side
  __device__ Row(int64_t rows_, int width_)
      : i(int64_t(blockIdx.x) * together + int(threadIdx.x) / team), rows(rows_), width(width_),
        lane(int(threadIdx.x) % lanes), first(int(threadIdx.x) % team / lanes * lanes * per_thread + lane) {
    n = i < rows ? width : 0;
  }
  __device__ bool any() const { return i - int(threadIdx.x) / team < rows; }
  __device__ void next() {
    i += int64_t(gridDim.x) * together;
    n = i < rows ? width : 0;
  }
  __device__ int64_t start() const { return i * width; }
  __device__ bool leads() const { return n > 0 && threadIdx.x % team == 0; }        // true for one thread of the team

  // Only a block has rows of several panels (see for_team), and the compiler makes use of that.
  __device__ int end() const { return team < threads ? panel : width; }
  __device__ bool again() const { return team == threads && width > panel; }

  __device__ int column(int p, int k) const { return p + first + k * lanes; }
  // x: one row of numbers, the same for all rows
  __device__ void read_columns(real (&v)[per_thread], const real* x, int p, real rest) const { 
    x += p + first;
    for (int k = 0; k < per_thread; ++k) v[k] = column(p, k) < n ? x[k * lanes] : rest;
  }
  __device__ void read(real (&v)[per_thread], const real* x, int p, real rest) const {
    read_columns(v, x + start(), p, rest);
  }
  __device__ void write(real* y, const real (&v)[per_thread], int p) const {
    y += start() + p + first;
    for (int k = 0; k < per_thread; ++k)
      if (column(p, k) < n) y[k * lanes] = v[k];
  }
  __device__ void add(const Accumulator& y, const real (&v)[per_thread], int p) const {
    real sum[per_thread] = {};
    if (!y.empty) read(sum, y.at, p, 0);     // all reads come first, so that they are under way together
    for (int k = 0; k < per_thread; ++k) sum[k] += v[k];
    write(y.at, sum, p);
  }
};

// Sum and maximum over a team, always in the same order; every thread gets the result.
template <int team, class T>
__device__ inline T team_sum(T x) {
  x = warp_sum(x, Row<team>::lanes);
  if constexpr (team > warp) {
    SHARED(T, of_warp, team / warp);
    if (threadIdx.x % warp == 0) of_warp[threadIdx.x / warp] = x;
    __syncthreads();
    x = 0;
    for (int w = 0; w < team / warp; ++w) x += of_warp[w];
    __syncthreads();
  }
  return x;
}
template <int team, class T>
__device__ inline T team_max(T x) {
  x = warp_max(x, Row<team>::lanes);
  if constexpr (team > warp) {
    SHARED(T, of_warp, team / warp);
    if (threadIdx.x % warp == 0) of_warp[threadIdx.x / warp] = x;
    __syncthreads();
    for (int w = 0; w < team / warp; ++w) {
      const T other = of_warp[w];
      x = other > x ? other : x;
    }
    __syncthreads();
  }
  return x;
}

// On the host: the kernel for rows of n, and how many blocks hold them all at once.
template <class Kernel>
Kernel for_team(int n, Kernel lanes, Kernel a_warp, Kernel block) {
  return n <= Row<8>::panel ? lanes : n <= Row<warp>::panel ? a_warp : block;
}
inline int row_blocks(int64_t rows, int n) {
  return blocks_for(rows, for_team(n, Row<8>::together, Row<warp>::together, Row<threads>::together));
}

}  // namespace poslab::cuda
