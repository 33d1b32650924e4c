// Five statistics of each row of attention, one warp per row. Each lane takes every 32nd key and keeps the same numbers
// as core/cpu/attention/statistics.cpp keeps for a row; the lanes' numbers are then combined in the same way.
#include "cuda/attention_general.cuh"

namespace poslab::cuda {
namespace {

__global__ void statistics_rows(real* y, const AttentionArgs x) {
  const int lane = int(threadIdx.x) % warp;
  const int64_t rows = int64_t(x.batch) * x.heads * x.queries, warps = int64_t(gridDim.x) * blockDim.x / warp;
  for (int64_t row = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp; row < rows; row += warps) {
    const int i = int(row % x.queries), head = int(row / x.queries % x.heads), b = int(row / x.queries / x.heads);
    real own = -INFINITY, z = 0, w = 0, count = 0, mean = 0, squares = 0;
    for (int j = lane; j < x.keys; j += warp) {
      const real s = general::logit(x, b, head, i, j).s;
      if (s == -INFINITY) continue;
      if (s > own || count == 0) {
        const real fade = count == 0 ? real(0) : exp(own - s);
        w = count == 0 ? real(0) : fade * (w + (own - s) * z);
        z *= fade, own = s;
      }
      const real e = exp(s - own), apart = s - mean;
      z += e, w += e * (s - own), count += 1;
      mean += apart / count, squares += apart * (s - mean);
    }
    const real highest = warp_max(own), all = warp_sum(count);
    const real fade = count == 0 ? real(0) : exp(own - highest);
    w = warp_sum(count == 0 ? real(0) : fade * (w + (own - highest) * z));
    z = warp_sum(fade * z);
    const real middle = all == 0 ? real(0) : warp_sum(count * mean) / all;
    squares = warp_sum(squares + count * (mean - middle) * (mean - middle));
    if (lane > 0) continue;
    real* to = y + row * statistics_per_row;
    to[0] = all == 0 ? real(0) : 1 / z, to[1] = all == 0 ? real(0) : log(z) - w / z;
    to[2] = all == 0 ? real(0) : highest, to[3] = middle, to[4] = all == 0 ? real(0) : squares / all;
  }
}

}  // namespace

void attention_statistics(real* y, const AttentionArgs& x) {
  launch(statistics_rows, blocks_for(int64_t(x.batch) * x.heads * x.queries * warp), threads, y, x);
}

}  // namespace poslab::cuda
