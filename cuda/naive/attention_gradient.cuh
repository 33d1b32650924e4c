// The gradient at one logit, which gives the gradients of all terms, and its sum over the keys of a query:
//
//   a_ij = exp(s_ij - max_i) / z_i     ds_ij = a_ij (do_i . v_j - delta_i), delta_i = do_i . o_i
//   du_ij = temperature_i ds_ij
//
// The weights are computed again from max_i and 1 / z_i, and never stored. This costs a logit, and 24 more loads for
// heads of 8 channels.
#pragma once
#include <cmath>

#include "cuda/naive/logits.cuh"

namespace poslab::cuda::naive {
namespace {

// A backward pass.
struct Pass {
  AttentionArgs x;
  const real *d_o, *o, *stats;
  FIELDS(Pass, x, d_o, o, stats)
};

struct Gradient {
  Logit at;
  real a, ds, du;                  // 0 where the query does not see the key
};

__device__ Gradient gradient(const Pass& p, int b, int i, int j, int head) {
  const AttentionArgs& x = p.x;
  const Logit y = logit(x, b, i, j, head);
  if (y.piece < 0) return {y, 0, 0, 0};
  const real* const kept = p.stats + 2 * stats_row(x, b, i, head);
  const real a = std::exp(y.s - kept[0]) * kept[1];
  real da = 0;
  for (int c = 0; c < x.value_dim; ++c) {
    const int64_t at = y.query * x.value_dim + c;
    da += p.d_o[at] * (x.v[y.key * x.value_dim + c] - p.o[at]);
  }
  return {y, a, a * da, y.temperature * a * da};
}

// Channel c of the gradient of q_i of a piece, or of q_rel_i, over its keys.
__device__ real query_gradient(const Pass& p, bool relative, int piece, int b, int i, int head, int c) {
  real sum = 0;
  for (int j = 0; j < p.x.keys; ++j) {
    const Gradient y = gradient(p, b, i, j, head);
    if (y.at.piece < 0 || (!relative && y.at.piece != piece)) continue;
    const real* const k = p.x.piece[y.at.piece].k;
    sum += y.at.gain * y.du * (relative ? p.x.r[y.at.pair * p.x.rel_dim + c] : k[y.at.key * p.x.head_dim + c]);
  }
  return p.x.scale * sum;
}

}  // namespace
}  // namespace poslab::cuda::naive
