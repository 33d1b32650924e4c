// Running sums along the middle axis of (outer, n, inner). Where the axis is the innermost, a warp takes a row, 32
// numbers at a time; else a thread takes a column, and its neighbours the columns next to it.
#include "cuda/launch.h"

namespace poslab::cuda {
namespace {

// The sum of x over this lane and the lanes below, by shuffles.
__device__ inline real running_sum(real x) {
  const int lane = int(threadIdx.x) % warp;
  for (int by = 1; by < warp; by *= 2) {
    const real below = __shfl_sync(0xFFFFFFFFu, x, lane >= by ? lane - by : lane);
    if (lane >= by) x += below;
  }
  return x;
}

__global__ void scan_rows(Accumulator y, const real* x, int64_t rows, int n, ScanOrder order) {
  const int lane = int(threadIdx.x) % warp;
  for (int64_t i = (int64_t(blockIdx.x) * threads + threadIdx.x) / warp; i < rows;
       i += int64_t(gridDim.x) * threads / warp) {
    real before = 0;                                     // the sum of the numbers before these 32
    for (int p = 0; p < n; p += warp) {
      const int j = p + lane;
      const int64_t at = i * n + (order.reverse ? n - 1 - j : j);
      const real own = j < n ? x[at] : real(0), sum = running_sum(own);
      const real below = __shfl_sync(0xFFFFFFFFu, sum, lane > 0 ? lane - 1 : lane);
      if (j < n) add_to(y, at, before + (!order.exclusive ? sum : lane > 0 ? below : real(0)));
      before += __shfl_sync(0xFFFFFFFFu, sum, warp - 1);
    }
  }
}

__global__ void scan_columns(Accumulator y, const real* x, int64_t outer, int n, int64_t inner,
                             ScanOrder order) {
  for (const int64_t column : all(outer * inner)) {
    const int64_t first = column / inner * n * inner + column % inner;
    real sum = 0;
    for (int t = 0; t < n; ++t) {
      const int64_t at = first + (order.reverse ? n - 1 - t : t) * inner;
      const real before = sum;
      sum += x[at];
      add_to(y, at, order.exclusive ? before : sum);
    }
  }
}

}  // namespace

void scan(Accumulator y, const real* x, int64_t outer, int n, int64_t inner, ScanOrder order) {
  if (!y) return;
  if (inner == 1)
    launch(scan_rows, blocks_for(outer, threads / warp), threads, y, x, outer, n, order);
  else
    launch(scan_columns, blocks_for(outer * inner), threads, y, x, outer, n, inner, order);
}

}  // namespace poslab::cuda
