// Attention by the formulas alone, for cases that the tiles of cuda/logits.cuh do not cover: rows of more than 256
// channels, two gradients in one array, and callers that want the weights. A thread computes a weight, or an
// element of a result, and the weights are in memory, as many as max_weights allows at a time. This route accepts
// any AttentionArgs, but is many times slower.
#pragma once
#include "cuda/attention_routes.h"

namespace poslab::cuda::general {
namespace {

struct Logit {
  int piece;               // -1: the key is not seen, and s is -infinity
  real product, u, s;
};
__device__ inline Logit logit(const AttentionArgs& x, int b, int head, int i, int j) {
  const int piece = piece_of<false>(x, b, i, j);
  if (piece < 0) return {piece, 0, 0, -INFINITY};
  const int D = x.head_dim, R = x.rel_dim;
  const int64_t query = query_row(x, b, i, head), key = key_row(x, b, j, head / (x.heads / x.kv_heads));
  const int64_t pair = x.q_rel || x.gain || x.bias ? pair_row(x, b, i, j) * x.heads + head : 0;
  const real *q = x.piece[piece].q + query * D, *k = x.piece[piece].k + key * D;
  real product = 0;
  for (int c = 0; c < D; ++c) product += q[c] * k[c];
  for (int c = 0; x.q_rel && c < R; ++c) product += x.q_rel[query * R + c] * x.r[pair * R + c];
  product *= x.scale;
  const real u = (x.gain ? x.gain[pair] : real(1)) * product + (x.bias ? x.bias[pair] : real(0));
  return {piece, product, u, temperature_of(x, b, head, i) * u};
}

// do_i . v_j - delta_i, delta_i = do_i . o_i
__device__ inline real dweight(const AttentionArgs& x, const real* d_o, const real* o, int b, int head, int i, int j) {
  const int D = x.value_dim;
  const int64_t query = query_row(x, b, i, head) * D, key = key_row(x, b, j, head / (x.heads / x.kv_heads)) * D;
  real delta = 0, dy_v = 0;
  for (int c = 0; c < D; ++c) delta += d_o[query + c] * o[query + c], dy_v += d_o[query + c] * x.v[key + c];
  return dy_v - delta;
}

// A warp takes a row of a: (batch, heads, to - from, keys). stats may be null.
__global__ void softmax_rows(real* a, real* stats, const AttentionArgs x, int from, int to) {
  const int lane = int(threadIdx.x) % warp, queries = to - from;
  const int64_t rows = int64_t(x.batch) * x.heads * queries, warps = int64_t(gridDim.x) * blockDim.x / warp;
  for (int64_t row = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp; row < rows; row += warps) {
    const int i = from + int(row % queries), head = int(row / queries % x.heads), b = int(row / queries / x.heads);
    real *s = a + row * x.keys, max = -INFINITY, z = 0;
    for (int j = lane; j < x.keys; j += warp) {
      const real y = logit(x, b, head, i, j).s;
      max = y > max ? y : max, s[j] = y;
    }
    max = warp_max(max);
    const real shift = max == -INFINITY ? real(0) : max;
    for (int j = lane; j < x.keys; j += warp) {
      const real e = exp(s[j] - shift);
      z += e, s[j] = e;
    }
    z = warp_sum(z);
    const real inverse = z == 0 ? real(0) : 1 / z;          // 0: no key was seen
    for (int j = lane; j < x.keys; j += warp) s[j] *= inverse;
    if (!stats || lane > 0) continue;
    real* kept = stats + 2 * weight_row(x, b, head, i);
    kept[0] = shift, kept[1] = inverse;
  }
}

// o_i = sum_j a_ij v_j of queries from .. to
__global__ void weighted_values(real* o, const real* a, const AttentionArgs x, int from, int to) {
  const int D = x.value_dim, queries = to - from;
  for (const int64_t e : all(int64_t(x.batch) * queries * x.heads * D)) {
    const int64_t row = e / D;
    const int head = int(row % x.heads), i = int(row / x.heads % queries), b = int(row / x.heads / queries);
    const real* weight = a + ((int64_t(b) * x.heads + head) * queries + i) * x.keys;
    const int kv_head = head / (x.heads / x.kv_heads), c = int(e % D);
    real sum = 0;
    for (int j = 0; j < x.keys; ++j)
      if (weight[j] != 0) sum += weight[j] * x.v[key_row(x, b, j, kv_head) * D + c];
    o[query_row(x, b, from + i, head) * D + c] = sum;
  }
}

// Computes a, and if wanted du and dgain, of queries from .. to: (batch, heads, keys, to - from).
__global__ void weights_again(real* a, const LogitGrads wanted, const AttentionArgs x, const real* d_o, const real* o,
                              const real* stats, int from, int to) {
  const int queries = to - from;
  for (const int64_t e : all(int64_t(x.batch) * x.heads * x.keys * queries)) {
    const int64_t column = e / queries;
    const int i = from + int(e % queries), j = int(column % x.keys), head = int(column / x.keys % x.heads);
    const int b = int(column / x.keys / x.heads);
    const real* kept = stats + 2 * weight_row(x, b, head, i);
    const Logit y = logit(x, b, head, i, j);
    a[e] = y.piece < 0 ? real(0) : exp(y.s - kept[0]) * kept[1];
    const real du = y.piece < 0 ? real(0) : temperature_of(x, b, head, i) * a[e] * dweight(x, d_o, o, b, head, i, j);
    wanted.du[e] = du;
    if (wanted.dgain) wanted.dgain[e] = du * y.product;
  }
}

// sum_j ds_ij u_ij: a warp takes a row
__global__ void temperature_rows(real* sums, const AttentionArgs x, const real* d_o, const real* o, const real* stats,
                                 int from, int to) {
  const int lane = int(threadIdx.x) % warp, queries = to - from;
  const int64_t rows = int64_t(x.batch) * x.heads * queries, warps = int64_t(gridDim.x) * blockDim.x / warp;
  for (int64_t row = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp; row < rows; row += warps) {
    const int i = from + int(row % queries), head = int(row / queries % x.heads), b = int(row / queries / x.heads);
    const real* kept = stats + 2 * weight_row(x, b, head, i);
    real sum = 0;
    for (int j = lane; j < x.keys; j += warp) {
      const Logit y = logit(x, b, head, i, j);
      const real a = y.piece < 0 ? real(0) : exp(y.s - kept[0]) * kept[1];
      if (a != 0) sum += a * dweight(x, d_o, o, b, head, i, j) * y.u;  // u is -infinite where a bias hides a pair
    }
    sum = warp_sum(sum);
    if (lane == 0) sums[weight_row(x, b, head, i)] = sum;
  }
}

// dq, dq_rel of queries from .. to
__global__ void of_queries(const AttentionGrads d, const real* du, const AttentionArgs x, int from, int to) {
  const int D = x.head_dim, R = x.rel_dim, width = larger(D, x.q_rel ? R : 0), queries = to - from;
  for (const int64_t e : all(int64_t(x.batch) * queries * x.heads * width)) {
    const int64_t row = e / width;
    const int c = int(e % width), head = int(row % x.heads), at = int(row / x.heads % queries), i = from + at;
    const int b = int(row / x.heads / queries), kv_head = head / (x.heads / x.kv_heads);
    const real* column = du + (int64_t(b) * x.heads + head) * x.keys * queries + at;
    real of_k[max_pieces] = {}, of_r = 0;
    for (int j = 0; j < x.keys; ++j) {
      const int piece = piece_of<false>(x, b, i, j);
      if (piece < 0) continue;
      const int64_t pair = x.gain || x.q_rel ? pair_row(x, b, i, j) * x.heads + head : 0;
      const real w = x.scale * (x.gain ? x.gain[pair] : real(1)) * column[int64_t(j) * queries];
      for (int p = 0; p < max_pieces; ++p)
        if (p == piece && c < D) of_k[p] += w * x.piece[p].k[key_row(x, b, j, kv_head) * D + c];
      if (d.q_rel.at && c < R) of_r += w * x.r[pair * R + c];
    }
    const int64_t query = query_row(x, b, i, head);
    for (int p = 0; p < max_pieces; ++p)
      if (d.q[p].at && c < D) add_to(d.q[p], query * D + c, of_k[p]);
    if (d.q_rel.at && c < R) add_to(d.q_rel, query * R + c, of_r);
  }
}

// the terms of dk and dv that come from queries from .. to
__global__ void of_keys(const AttentionGrads d, const real* a, const real* du, const AttentionArgs x, const real* d_o,
                        int from, int to) {
  const int D = x.head_dim, Dv = x.value_dim, width = larger(D, Dv), queries = to - from, group = x.heads / x.kv_heads;
  for (const int64_t e : all(int64_t(x.batch) * x.keys * x.kv_heads * width)) {
    const int64_t row = e / width;
    const int c = int(e % width), kv_head = int(row % x.kv_heads), j = int(row / x.kv_heads % x.keys);
    const int b = int(row / x.kv_heads / x.keys);
    real of_q[max_pieces] = {}, of_o = 0;
    for (int head = kv_head * group; head < kv_head * group + group; ++head) {
      const int64_t column = ((int64_t(b) * x.heads + head) * x.keys + j) * queries;
      for (int i = from; i < to; ++i) {
        const int piece = piece_of<false>(x, b, i, j);
        if (piece < 0) continue;
        const int64_t query = query_row(x, b, i, head);
        const real gain = x.gain ? x.gain[pair_row(x, b, i, j) * x.heads + head] : real(1);
        const real w = x.scale * gain * du[column + i - from];
        for (int p = 0; p < max_pieces; ++p)
          if (p == piece && c < D) of_q[p] += w * x.piece[p].q[query * D + c];
        if (c < Dv) of_o += a[column + i - from] * d_o[query * Dv + c];
      }
    }
    for (int p = 0; p < max_pieces; ++p)
      if (d.k[p].at && c < D) add_to(d.k[p], row * D + c, of_q[p]);
    if (d.v.at && c < Dv) add_to(d.v, row * Dv + c, of_o);
  }
}

}  // namespace

// a: (batch, heads, to - from, keys)
inline void weights(real* a, real* stats, const AttentionArgs& x, int from, int to) {
  const int64_t rows = int64_t(x.batch) * x.heads * (to - from);
  launch(softmax_rows, blocks_for(rows * warp), threads, a, stats, x, from, to);
}

inline void attention(real* o, real* stats, const AttentionArgs& x) {
  const int64_t of_query = int64_t(x.heads) * x.keys;
  const int queries = larger(1, int(of_query * x.queries <= max_weights ? x.queries : max_weights / of_query));
  const int64_t of_sequence = of_query * queries;
  const int batch = larger(1, int(of_sequence * x.batch <= max_weights ? x.batch : max_weights / of_sequence));
  real* a = scratch(0, batch * of_sequence);
  for (int b = 0; b < x.batch; b += batch)
    for (int from = 0; from < x.queries; from += queries) {
      const AttentionArgs some = sequences(x, b, smaller(batch, x.batch - b));
      const int64_t row = int64_t(b) * x.queries * x.heads;
      const int to = smaller(from + queries, x.queries);
      weights(a, stats + 2 * row, some, from, to);
      launch(weighted_values, blocks_for(int64_t(some.batch) * (to - from) * x.heads * x.value_dim), threads,
             o + row * x.value_dim, a, some, from, to);
    }
}

inline void backward(const AttentionPass& p, int from, int to) {
  const AttentionArgs& x = p.x;
  const int64_t pairs = int64_t(x.batch) * x.heads * x.keys * (to - from);
  const int64_t rows_q = int64_t(x.batch) * x.heads * (to - from), rows_k = int64_t(x.batch) * x.kv_heads * x.keys;
  real* a = scratch(0, pairs);
  launch(weights_again, blocks_for(pairs), threads, a, p.wanted, x, p.d_o, p.o, p.stats, from, to);
  if (p.wanted.dtemperature)
    launch(temperature_rows, blocks_for(rows_q * warp), threads, p.wanted.dtemperature, x, p.d_o, p.o, p.stats, from,
           to);
  launch(of_queries, blocks_for(rows_q * channels_of(x)), threads, p.d, p.wanted.du, x, from, to);
  launch(of_keys, blocks_for(rows_k * channels_of(x)), threads, p.d, a, p.wanted.du, x, p.d_o, from, to);
}

}  // namespace poslab::cuda::general
