// The logit of one query and one key, with every term that AttentionArgs has (core/kernels.h), by the formula:
//
//   p_ij = scale (q_i . k_j + q_rel_i . r[pair])     u_ij = gain[pair] p_ij + bias[pair]     s_ij = temperature_i u_ij
//
// It costs 16 loads for heads of 8 channels, and 32 with r. Kernels call it in a loop over keys or over queries. The
// fast version, cuda/logits.cuh, loads keys in tiles, and its kernels for the usual case omit terms that are absent.
#pragma once
#include "cuda/launch.h"

namespace poslab::cuda::naive {
namespace {

// Rows of all matrices are counted over batch, time and heads: element c of a row of n is at row n + c.
struct Logit {
  int piece;                       // the piece with the pair; -1: query i does not see key j, and nothing else is set
  int64_t query, key, pair;        // rows of q, q_rel and o; of k and v; of r, gain and bias
  real product, gain, temperature, u, s;
};

__device__ int64_t query_row(const AttentionArgs& x, int b, int i, int head) {
  return (int64_t(b) * x.queries + i) * x.heads + head;
}
__device__ int64_t key_row(const AttentionArgs& x, int b, int j, int kv_head) {
  return (int64_t(b) * x.keys + j) * x.kv_heads + kv_head;
}
__device__ int64_t stats_row(const AttentionArgs& x, int b, int i, int head) {
  return (int64_t(b) * x.heads + head) * x.queries + i;
}
__device__ int64_t temperature_row(const AttentionArgs& x, int b, int i, int head) {
  const int64_t row = (x.temperature_batch == 1 ? 0 : int64_t(b)) * x.queries + i;
  return row * x.temperature_heads + (x.temperature_heads == 1 ? 0 : head);
}
// pair(i,j), the row of r, gain and bias, without the head.
__device__ int pair_of(const AttentionArgs& x, int b, int i, int j) {
  if (x.pairs) return x.pairs[((x.pairs_batch == 1 ? 0 : int64_t(b)) * x.queries + i) * x.keys + j];
  const int slots = x.offset + x.queries, last = (slots > x.keys ? slots : x.keys) - 1;
  return j - (x.offset + i) + last;
}
__device__ int piece_of(const AttentionArgs& x, int b, int i, int j) {
  const int away = j - (x.offset + i);
  if ((x.causal && away > 0) || (x.key_lengths && j >= x.key_lengths[b])) return -1;
  for (int p = 0; p < x.pieces; ++p) {
    const AttentionPiece& a = x.piece[p];
    if (a.from <= away && away < a.to && a.first <= j && j < a.end) return p;
  }
  return -1;
}

// Channel c of a query, with its bias.
__device__ real query_of(const AttentionArgs& x, int piece, int64_t query, int head, int c) {
  const real q = x.piece[piece].q[query * x.head_dim + c];
  return piece == 0 && x.q_bias ? q + x.q_bias[head * x.head_dim + c] : q;
}
__device__ real relative_query_of(const AttentionArgs& x, int64_t query, int head, int c) {
  const real q = x.q_rel[query * x.rel_dim + c];
  return x.q_rel_bias ? q + x.q_rel_bias[head * x.rel_dim + c] : q;
}

__device__ Logit logit(const AttentionArgs& x, int b, int i, int j, int head) {
  Logit y{piece_of(x, b, i, j)};
  if (y.piece < 0) return y;
  y.query = query_row(x, b, i, head), y.key = key_row(x, b, j, head / (x.heads / x.kv_heads));
  if (x.r || x.gain || x.bias) y.pair = int64_t(pair_of(x, b, i, j)) * x.heads + head;
  real sum = 0;
  for (int c = 0; c < x.head_dim; ++c)
    sum += query_of(x, y.piece, y.query, head, c) * x.piece[y.piece].k[y.key * x.head_dim + c];
  for (int c = 0; x.r && c < x.rel_dim; ++c)
    sum += relative_query_of(x, y.query, head, c) * x.r[y.pair * x.rel_dim + c];
  y.product = x.scale * sum;
  y.gain = x.gain ? x.gain[y.pair] : real(1);
  y.u = y.gain * y.product + (x.bias ? x.bias[y.pair] : real(0));
  y.temperature = x.temperature ? x.temperature[temperature_row(x, b, i, head)] : real(1);
  y.s = y.temperature * y.u;
  return y;
}

}  // namespace
}  // namespace poslab::cuda::naive
