// The gradients of attention that sum over the whole batch: a warp computes one number of a result, its lanes share
// the query rows. The fast version is cuda/row_sums.cuh, and cuda/sums.cu for the biases of queries.
//
//   dr[p] += scale gain[p] sum du_bij q_rel_bi     dbias[p] += sum du_bij     dgain[p] += sum du_bij p_bij
//   dtemperature_i += sum ds_bij u_bij     dq_bias += sum_bi dq_bi     dq_rel_bias += sum_bi dq_rel_bi
//
// Cost, with batch 128, 80 slots and 8 heads of 8 channels: a row p of r is one of 159 distances, and r has
// 10,176 numbers. For each of them a warp goes over all 819,200 pairs of the batch, and asks of each whether it is in
// row p: 8.3 billion questions. With a table of pairs each question is a load.
//
// How the fast version differs, step by step:
//   1. The kernel for dq keeps du: no gradient at a logit is computed again.
//   2. Sequences that share their pairs are summed first, g_ij = sum_b du_bij q_rel_bi, in lines of memory.
//   3. Without a table, row p is a diagonal of g, and no thread has to ask. With one, a block looks for 16 rows.
#pragma once
#include "cuda/naive/attention_gradient.cuh"
#include "cuda/naive/warps.cuh"

namespace poslab::cuda::naive {
namespace {

enum class Table { r, gain, bias };

// The term that pair (i, j) adds to channel c of its row of the table.
__device__ real given(Table table, const Pass& p, const Gradient& y, int head, int c) {
  switch (table) {
    case Table::r: return p.x.scale * y.at.gain * y.du * relative_query_of(p.x, y.at.query, head, c);
    case Table::gain: return y.du * y.at.product;
    case Table::bias: break;
  }
  return y.du;
}

__global__ void of_table(Accumulator to, Table table, const Pass p, int n) {          // to: (rows, heads, n)
  const AttentionArgs& x = p.x;
  for (const int64_t e : warps(int64_t(x.rows) * x.heads * n)) {
    const int c = int(e % n), head = int(e / n % x.heads), row = int(e / n / x.heads);
    real sum = 0;
    for (int at = lane(); at < x.batch * x.queries; at += warp) {
      const int b = at / x.queries, i = at % x.queries;
      for (int j = 0; j < x.keys; ++j) {
        if (pair_of(x, b, i, j) != row) continue;
        const Gradient y = gradient(p, b, i, j, head);
        if (y.at.piece >= 0) sum += given(table, p, y, head, c);
      }
    }
    sum = warp_sum(sum);
    if (lane() == 0) add_to(to, e, sum);
  }
}

// A temperature serves one sequence or all, and one head or all.
__global__ void of_temperature(Accumulator to, const Pass p) {
  const AttentionArgs& x = p.x;
  for (const int64_t e : warps(int64_t(x.temperature_batch) * x.queries * x.temperature_heads)) {
    real sum = 0;
    for (int at = lane(); at < x.batch * x.heads; at += warp) {
      const int b = at / x.heads, head = at % x.heads, i = int(e / x.temperature_heads % x.queries);
      if (temperature_row(x, b, i, head) != e) continue;
      for (int j = 0; j < x.keys; ++j) {
        const Gradient y = gradient(p, b, i, j, head);
        if (y.at.piece >= 0) sum += y.ds * y.at.u;
      }
    }
    sum = warp_sum(sum);
    if (lane() == 0) add_to(to, e, sum);
  }
}

// The bias of a head's queries is added to all of them.
__global__ void of_query_bias(Accumulator dbias, const Pass p, bool relative, int n) {
  for (const int64_t e : warps(int64_t(p.x.heads) * n)) {
    real sum = 0;
    for (int at = lane(); at < p.x.batch * p.x.queries; at += warp)
      sum += query_gradient(p, relative, 0, at / p.x.queries, at % p.x.queries, int(e / n), int(e % n));
    sum = warp_sum(sum);
    if (lane() == 0) add_to(dbias, e, sum);
  }
}

}  // namespace
}  // namespace poslab::cuda::naive
