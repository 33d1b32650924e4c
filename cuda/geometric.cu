// The weights of geometric attention. A warp takes a row: its lanes hold 32 keys in the order of the query's visits;
// the keys before a key enter its weight by a sum over the lanes below. Formula: core/more_kernels.def.
#include <cmath>

#include "cuda/launch.h"

namespace poslab::cuda {
namespace {

constexpr int together = threads / warp;         // rows of a block

struct Lane {
  int at = int(threadIdx.x) % warp;

  // Sums over this lane and those below or above it.
  __device__ real sum_below(real x) const {
    for (int away = 1; away < warp; away *= 2) {
      const real other = __shfl_sync(0xFFFFFFFFu, x, (at - away) & (warp - 1));
      if (at >= away) x += other;
    }
    return x;
  }
  __device__ real sum_above(real x) const {
    for (int away = 1; away < warp; away *= 2) {
      const real other = __shfl_sync(0xFFFFFFFFu, x, (at + away) & (warp - 1));
      if (at + away < warp) x += other;
    }
    return x;
  }
};

// The query of one row: its slot, and the order in which it visits the keys on either side.
struct Query {
  int t, left, right, both;
  __device__ Query(int64_t row, int queries, int keys, bool causal)
      : t(int(row % queries) + keys - queries), left(t), right(causal ? 0 : keys - 1 - t),
        both(left < right ? left : right) {}
  __device__ int asked() const { return left + right; }
  __device__ int key(int p) const {              // the p-th in that order
    const bool pair = p < 2 * both;
    const int away = pair ? p / 2 + 1 : p - both + 1;
    return (pair ? p % 2 == 0 : right > left) ? t + away : t - away;
  }
  __device__ real logit(const real* z, const real* side, int j) const { return z[j] + side[j < t]; }
  // Calls f(j) for the keys that it does not visit.
  template <class F>
  __device__ void others(const Lane& lane, int keys, const F& f) const {
    if (lane.at == 0) f(t);
    for (int j = t + right + 1 + lane.at; j < keys; j += warp) f(j);
  }
};

__global__ void forward(real* a, const real* z, const real* side, int64_t rows, int queries, int keys, bool causal) {
  const Lane lane;
  const int64_t first = int64_t(blockIdx.x) * together + int(threadIdx.x) / warp;
  for (int64_t i = first; i < rows; i += int64_t(gridDim.x) * together) {
    const Query query(i, queries, keys, causal);
    const int n = query.asked();
    real* y = a + i * keys;
    real missed = 0, top = -real(INFINITY), sum = 0;
    for (int p = 0; p < n; p += warp) {
      const bool mine = p + lane.at < n;
      const int j = mine ? query.key(p + lane.at) : 0;
      const real x = query.logit(z + i * keys, side + 2 * i, j), rest = std::log1p(std::exp(x < 0 ? x : -x));
      const real through = lane.sum_below(mine ? (x > 0 ? x : real(0)) + rest : real(0));     // this key included
      const real before = __shfl_sync(0xFFFFFFFFu, through, (lane.at - 1) & (warp - 1));
      const real u = (x < 0 ? x : real(0)) - rest - (missed + (lane.at ? before : real(0)));
      missed += __shfl_sync(0xFFFFFFFFu, through, warp - 1);
      if (!mine) continue;
      y[j] = u;
      if (!(u <= top)) top = u;                  // a NaN stays
    }
    top = warp_max(top);
    for (int p = lane.at; p < n; p += warp) {
      real& e = y[query.key(p)];
      sum += e = std::exp(e - top);
    }
    sum = warp_sum(sum);
    for (int p = lane.at; p < n; p += warp) y[query.key(p)] /= sum;
    query.others(lane, keys, [&](int j) { y[j] = 0; });
  }
}

__global__ void backward(Accumulator dz, Accumulator dside, const real* da, const real* a, const real* z,
                         const real* side, int64_t rows, int queries, int keys, bool causal) {
  const Lane lane;
  const int64_t first = int64_t(blockIdx.x) * together + int(threadIdx.x) / warp;
  for (int64_t i = first; i < rows; i += int64_t(gridDim.x) * together) {
    const Query query(i, queries, keys, causal);
    const int n = query.asked();
    const int64_t e = i * keys;
    real mean = 0, later = 0, right = 0, left = 0;
    for (int p = lane.at; p < n; p += warp) mean += da[e + query.key(p)] * a[e + query.key(p)];
    mean = warp_sum(mean);
    for (int p = (n - 1) / warp * warp; p >= 0; p -= warp) {
      const bool mine = p + lane.at < n;
      const int j = mine ? query.key(p + lane.at) : 0;
      const real du = mine ? a[e + j] * (da[e + j] - mean) : real(0);
      const real from_here = lane.sum_above(du);
      const real dx = du - (later + from_here) / (1 + std::exp(-query.logit(z + e, side + 2 * i, j)));
      later += __shfl_sync(0xFFFFFFFFu, from_here, 0);
      if (!mine) continue;
      if (dz.at) add_to(dz, e + j, dx);
      (j > query.t ? right : left) += dx;
    }
    if (dz.at && dz.empty) query.others(lane, keys, [&](int j) { dz.at[e + j] = 0; });
    right = warp_sum(right), left = warp_sum(left);
    if (dside.at && lane.at == 0) add_to(dside, 2 * i, right), add_to(dside, 2 * i + 1, left);
  }
}

}  // namespace

void geometric(real* a, const real* z, const real* side, int64_t rows, int queries, int keys, bool causal) {
  launch(forward, blocks_for(rows, together), threads, a, z, side, rows, queries, keys, causal);
}
void geometric_backward(Accumulator dz, Accumulator dside, const real* da, const real* a, const real* z,
                        const real* side, int64_t rows, int queries, int keys, bool causal) {
  if (!dz && !dside) return;
  launch(backward, blocks_for(rows, together), threads, dz, dside, da, a, z, side, rows, queries, keys, causal);
}

}  // namespace poslab::cuda
