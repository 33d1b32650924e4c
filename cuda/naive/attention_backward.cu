// Attention, backward: a thread computes one number of a gradient, a sum over pairs. The fast version is
// cuda/attention_backward.cu.
//
//   dq_i += scale sum_j gain du_ij k_j                         dk_j += scale sum_i gain du_ij q_i
//   dq_rel_i += scale sum_j gain du_ij r[pair(i,j)]            dv_j += sum_i a_ij do_i
//   gradients that sum over the whole batch: cuda/naive/row_sums.cuh
//
// Cost, with batch 128, 80 slots and 8 heads of 8 channels: each of dq, dk and dv has 655,360 numbers. A number is a
// sum over 80 pairs and recomputes the gradient at each, which takes 40 loads: 2.1 billion loads for each of the three.
// The gradient at a pair is computed 24 times, for 8 channels of dq, dk and dv.
//
// How the fast version differs, step by step:
//   1. A thread has all 8 channels of a query row, as in the forward pass: one gradient at a pair serves all of dq.
//   2. It leaves a_ij and du_ij of a tile of keys in shared memory. Then each thread takes some channels of a dk or dv,
//      and goes along the queries of the block: the same gradient serves dk and dv too, and is computed once.
//   3. q, do, k and v come into shared memory once for each block.
//   4. A block has all queries of its sequences and heads, so that each sum has one owner: no atomics, and the same
//      bits every time.
#include "cuda/naive/row_sums.cuh"

namespace poslab::cuda::naive {
namespace {

__global__ void of_queries(Accumulator dq, const Pass p, bool relative, int piece, int n) {
  for (const int64_t e : all(int64_t(p.x.batch) * p.x.queries * p.x.heads * n)) {
    const int64_t row = e / n;
    const int head = int(row % p.x.heads), i = int(row / p.x.heads % p.x.queries);
    add_to(dq, e, query_gradient(p, relative, piece, int(row / p.x.heads / p.x.queries), i, head, int(e % n)));
  }
}

// dk of a piece, or dv. A key head serves several heads of queries.
__global__ void of_keys(Accumulator to, const Pass p, bool values, int piece, int n) {
  const AttentionArgs& x = p.x;
  const int group = x.heads / x.kv_heads;
  for (const int64_t e : all(int64_t(x.batch) * x.keys * x.kv_heads * n)) {
    const int64_t row = e / n;
    const int c = int(e % n), first = int(row % x.kv_heads) * group;
    const int j = int(row / x.kv_heads % x.keys), b = int(row / x.kv_heads / x.keys);
    real sum = 0;
    for (int head = first; head < first + group; ++head)
      for (int i = 0; i < x.queries; ++i) {
        const Gradient y = gradient(p, b, i, j, head);
        if (y.at.piece < 0 || (!values && y.at.piece != piece)) continue;
        sum += values ? y.a * p.d_o[y.at.query * n + c]
                      : x.scale * y.at.gain * y.du * query_of(x, piece, y.at.query, head, c);
      }
    add_to(to, e, sum);
  }
}

}  // namespace

void attention_backward(const AttentionGrads& d, const AttentionArgs& x, const real* d_o, const real* o,
                        const real* stats) {
  const Pass p{x, d_o, o, stats};
  const int D = x.head_dim, Dv = x.value_dim, R = x.rel_dim;
  const int64_t queries = int64_t(x.batch) * x.queries * x.heads, keys = int64_t(x.batch) * x.keys * x.kv_heads;
  const int64_t pairs = int64_t(x.rows) * x.heads;
  const int64_t temperatures = int64_t(x.temperature_batch) * x.queries * x.temperature_heads;
  for (int n = 0; n < x.pieces; ++n) {
    if (d.q[n]) launch(of_queries, blocks_for(queries * D), threads, d.q[n], p, false, n, D);
    if (d.k[n]) launch(of_keys, blocks_for(keys * D), threads, d.k[n], p, false, n, D);
  }
  if (d.v) launch(of_keys, blocks_for(keys * Dv), threads, d.v, p, true, 0, Dv);
  if (d.q_rel) launch(of_queries, blocks_for(queries * R), threads, d.q_rel, p, true, 0, R);
  if (d.r) launch(of_table, blocks_for(pairs * R * warp), threads, d.r, Table::r, p, R);
  if (d.gain) launch(of_table, blocks_for(pairs * warp), threads, d.gain, Table::gain, p, 1);
  if (d.bias) launch(of_table, blocks_for(pairs * warp), threads, d.bias, Table::bias, p, 1);
  if (d.temperature) launch(of_temperature, blocks_for(temperatures * warp), threads, d.temperature, p);
  if (d.q_bias) launch(of_query_bias, blocks_for(int64_t(x.heads) * D * warp), threads, d.q_bias, p, false, D);
  if (d.q_rel_bias) launch(of_query_bias, blocks_for(int64_t(x.heads) * R * warp), threads, d.q_rel_bias, p, true, R);
}

}  // namespace poslab::cuda::naive
