// Attention: a thread computes one number, channel c of o_i, and goes over the keys twice. The fast version is
// cuda/attention.cu.
//
//   max_i = max_j s_ij     z_i = sum_j exp(s_ij - max_i)     o_i = sum_j exp(s_ij - max_i) v_j / z_i
//   o: (batch, queries, heads, value_dim)     stats: (batch, heads, queries, 2), max_i and 1 / z_i
//
// Cost, with batch 128, 80 slots and 8 heads of 8 channels: each of 655,360 threads computes 80 logits of 16 loads, and
// does so twice, and loads 80 numbers of v. That makes 1.7 billion loads; q, k and v together are 2 million numbers. A
// logit is computed 16 times: each of the 8 channels of o_i has a thread that needs it, twice.
//
// How the fast version differs, step by step:
//   1. A thread has all 8 channels of a query row: a logit serves all of them.
//   2. It goes over the keys once. When a larger logit turns up, the sums so far are scaled down (online softmax), so
//      that the maximum need not be known before.
//   3. k and v of a head come into shared memory once for the 80 queries of the block: each number of q, k and v is
//      loaded once, 2 million loads.
//   4. It takes four keys at a time, so that four logits are under way while one waits.
//   5. Kernels for the usual case have no code for gains, pieces, temperatures and lengths.
#include <cmath>

#include "cuda/naive/logits.cuh"

namespace poslab::cuda::naive {
namespace {

__global__ void attend(real* o, real* stats, const AttentionArgs x) {
  for (const int64_t e : all(int64_t(x.batch) * x.queries * x.heads * x.value_dim)) {
    const int64_t row = e / x.value_dim;
    const int c = int(e % x.value_dim), head = int(row % x.heads);
    const int i = int(row / x.heads % x.queries), b = int(row / x.heads / x.queries);
    real max = -INFINITY, z = 0, sum = 0;
    for (int j = 0; j < x.keys; ++j) {
      const Logit y = logit(x, b, i, j, head);
      if (y.piece >= 0 && y.s > max) max = y.s;
    }
    for (int j = 0; j < x.keys; ++j) {
      const Logit y = logit(x, b, i, j, head);
      if (y.piece < 0) continue;
      const real weight = std::exp(y.s - max);
      z += weight, sum += weight * x.v[y.key * x.value_dim + c];
    }
    const real inverse = z == 0 ? real(0) : 1 / z;          // 0: no key was seen
    o[e] = sum * inverse;
    if (c > 0) continue;
    real* const kept = stats + 2 * stats_row(x, b, i, head);
    kept[0] = z == 0 ? real(0) : max, kept[1] = inverse;
  }
}

}  // namespace

void attention(real* o, real* stats, const AttentionArgs& x) {
  const int64_t results = int64_t(x.batch) * x.queries * x.heads * x.value_dim;
  launch(attend, blocks_for(results), threads, o, stats, x);
}

}  // namespace poslab::cuda::naive
