// Attention by the formulas alone, for heads of any number of channels: a thread has a weight, or an element of a
// result, and the weights stand in memory. For heads too wide for registers, and where the weights are what is wanted.
#pragma once
#include "cuda/logits.cuh"

namespace poslab::cuda::wide {

// -infinity where masked
__device__ inline real logit(const AttentionArgs& x, int b, int head, int i, int j) {
  if (j >= seen_by(x, i)) return -INFINITY;
  const int D = x.head_dim, R = x.rel_dim;
  const int64_t query = query_row(x, b, i, head), key = key_row(x, b, j, head);
  const int64_t pair = x.q_rel || x.bias ? pair_row(x, b, i, j) * x.heads + head : 0;
  real s = 0;
  for (int c = 0; c < D; ++c) s += x.piece[0].q[query * D + c] * x.piece[0].k[key * D + c];
  for (int c = 0; x.q_rel && c < R; ++c) s += x.q_rel[query * R + c] * x.r[pair * R + c];
  return x.bias ? x.scale * s + x.bias[pair] : x.scale * s;
}

namespace {

// A warp takes a row of a: (batch, heads, queries, keys). stats may be null.
__global__ void weigh(real* a, real* stats, AttentionArgs x) {
  const int lane = int(threadIdx.x) % warp;
  const int64_t rows = int64_t(x.batch) * x.heads * x.queries, warps = int64_t(gridDim.x) * blockDim.x / warp;
  for (int64_t row = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp; row < rows; row += warps) {
    const int i = int(row % x.queries), head = int(row / x.queries % x.heads), b = int(row / x.queries / x.heads);
    real *s = a + row * x.keys, most = -INFINITY, z = 0;
    for (int j = lane; j < x.keys; j += warp) {
      const real y = logit(x, b, head, i, j);
      most = y > most ? y : most, s[j] = y;
    }
    most = warp_max(most);
    for (int j = lane; j < x.keys; j += warp) {
      const real e = exp(s[j] - most);
      z += e, s[j] = e;
    }
    const real inverse = 1 / warp_sum(z);
    for (int j = lane; j < x.keys; j += warp) s[j] *= inverse;
    if (stats && lane == 0) stats[2 * row] = most, stats[2 * row + 1] = inverse;
  }
}

// o_i = sum_j a_ij v_j
__global__ void mix(real* o, const real* a, AttentionArgs x) {
  const int D = x.head_dim;
  for (const int64_t e : all(int64_t(x.batch) * x.queries * x.heads * D)) {
    const int64_t row = e / D;
    const int head = int(row % x.heads), i = int(row / x.heads % x.queries), b = int(row / x.heads / x.queries);
    const real* weight = a + ((int64_t(b) * x.heads + head) * x.queries + i) * x.keys;
    real sum = 0;
    for (int j = 0; j < seen_by(x, i); ++j) sum += weight[j] * x.v[key_row(x, b, j, head) * D + e % D];
    o[e] = sum;
  }
}

// a and ds of queries from .. to: (batch, heads, keys, to - from)
__global__ void weigh_again(real* a, real* ds, AttentionArgs x, const real* d_o, const real* o, const real* stats,
                            int from, int to) {
  const int D = x.head_dim, queries = to - from;
  for (const int64_t e : all(int64_t(x.batch) * x.heads * x.keys * queries)) {
    const int64_t column = e / queries;
    const int i = from + int(e % queries), j = int(column % x.keys), head = int(column / x.keys % x.heads);
    const int b = int(column / x.keys / x.heads);
    const int64_t query = query_row(x, b, i, head) * D, key = key_row(x, b, j, head) * D;
    const real* kept = stats + 2 * ((int64_t(b) * x.heads + head) * x.queries + i);
    const bool seen = j < seen_by(x, i);
    real along = 0, across = 0;
    for (int c = 0; c < D; ++c) along += d_o[query + c] * o[query + c], across += d_o[query + c] * x.v[key + c];
    a[e] = seen ? exp(logit(x, b, head, i, j) - kept[0]) * kept[1] : real(0);
    ds[e] = seen ? a[e] * (across - along) : real(0);
  }
}

// dq, dq_rel of queries from .. to
__global__ void of_queries(Accumulator dq, Accumulator dq_rel, const real* ds, AttentionArgs x, int from, int to) {
  const int D = x.head_dim, R = x.rel_dim, wide = larger(D, R), queries = to - from;
  for (const int64_t e : all(int64_t(x.batch) * queries * x.heads * wide)) {
    const int64_t row = e / wide;
    const int c = int(e % wide), head = int(row % x.heads), at = int(row / x.heads % queries), i = from + at;
    const int b = int(row / x.heads / queries);
    const real* column = ds + (int64_t(b) * x.heads + head) * x.keys * queries + at;
    real of_k = 0, of_r = 0;
    for (int j = 0; j < seen_by(x, i); ++j) {
      const real w = x.scale * column[int64_t(j) * queries];
      if (dq.at && c < D) of_k += w * x.piece[0].k[key_row(x, b, j, head) * D + c];
      if (dq_rel.at && c < R) of_r += w * x.r[(pair_row(x, b, i, j) * x.heads + head) * R + c];
    }
    if (dq.at && c < D) add_to(dq, query_row(x, b, i, head) * D + c, of_k);
    if (dq_rel.at && c < R) add_to(dq_rel, query_row(x, b, i, head) * R + c, of_r);
  }
}

// dk, dv, of what queries from .. to give them
__global__ void of_keys(Accumulator dk, Accumulator dv, const real* a, const real* ds, AttentionArgs x, const real* d_o, int from,
                        int to) {
  const int D = x.head_dim, queries = to - from;
  for (const int64_t e : all(int64_t(x.batch) * x.keys * x.heads * D)) {
    const int64_t row = e / D;
    const int head = int(row % x.heads), j = int(row / x.heads % x.keys), b = int(row / x.heads / x.keys);
    const int64_t column = ((int64_t(b) * x.heads + head) * x.keys + j) * queries;
    real of_q = 0, of_o = 0;
    for (int i = from; i < to; ++i) {
      const int64_t query = query_row(x, b, i, head) * D + e % D;
      if (dk.at) of_q += x.scale * ds[column + i - from] * x.piece[0].q[query];
      if (dv.at) of_o += a[column + i - from] * d_o[query];
    }
    if (dk.at) add_to(dk, e, of_q);
    if (dv.at) add_to(dv, e, of_o);
  }
}

}  // namespace

inline void weights(real* a, real* stats, const AttentionArgs& x) {
  const int64_t rows = int64_t(x.batch) * x.heads * x.queries;
  launch(weigh, blocks_for(rows * warp), threads, a, stats, x);
}

inline void attention(real* o, real* stats, const AttentionArgs& x) {
  const int64_t of_one = int64_t(x.heads) * x.queries * x.keys;
  const int batch = larger(1, smaller(x.batch, int(weights_at_once / of_one)));
  real* a = scratch(0, batch * of_one);
  for (int b = 0; b < x.batch; b += batch) {
    const AttentionArgs some = sequences(x, b, smaller(batch, x.batch - b));
    const int64_t row = int64_t(b) * x.queries * x.heads;
    weights(a, stats + 2 * row, some);
    launch(mix, blocks_for(int64_t(some.batch) * x.queries * x.heads * x.head_dim), threads, o + row * x.head_dim, a,
           some);
  }
}

// d, d_o, o, stats, x: of the same sequences; ds: room for (batch, heads, keys, to - from)
inline void backward(const AttentionGrads& d, const AttentionArgs& x, const real* d_o, const real* o, const real* stats,
                     real* ds, int from, int to) {
  const int64_t pairs = int64_t(x.batch) * x.heads * x.keys * (to - from);
  const int64_t rows_q = int64_t(x.batch) * x.heads * (to - from), rows_k = int64_t(x.batch) * x.heads * x.keys;
  real* a = scratch(0, pairs);
  launch(weigh_again, blocks_for(pairs), threads, a, ds, x, d_o, o, stats, from, to);
  launch(of_queries, blocks_for(rows_q * larger(x.head_dim, x.rel_dim)), threads, d.q[0], d.q_rel, ds, x, from, to);
  launch(of_keys, blocks_for(rows_k * x.head_dim), threads, d.k[0], d.v, a, ds, x, d_o, from, to);
}

}  // namespace poslab::cuda::wide
