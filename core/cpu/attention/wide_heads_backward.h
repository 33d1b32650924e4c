// The gradients of attention in blocks of queries by keys; the formulas are in wide_heads.h. The gradients of a head's
// keys and values are summed in scratch memory, and added to dk and dv after its last block of queries.
#pragma once
#include "core/cpu/attention/wide_heads.h"

namespace poslab::POSLAB_ISA {

// dx_ij = ds_ij replaces dp_ij, and the weights a_ij replace the logits; delta_i = do_i . o_i
inline void weights_and_grads(const PairBlock& block, real* s, real* ds, const PerQuery& shift,
                              const PerQuery& inverse, const PerQuery& deltas) {
  for (int c = block.all.first; c < block.all.end; c += lanes) {
    const Vec top = load(shift.at + c), over = load(inverse.at + c), delta = load(deltas.at + c);
    for (int j = 0; j < block.n; ++j) {
      const int at = j * block_queries + c;
      const Vec a = exp_unclamped(load(s + at) - top) * over;
      store(s + at, a), store(ds + at, a * (load(ds + at) - delta));
    }
  }
}

// Computes dq of one block of queries, and adds its terms to the gradients of keys and values.
inline void wide_backward(const QueryBlock& of, const KeyRows& sums, const AttentionGrads& d, const real* d_o,
                          const real* o, const real* stats) {
  const AttentionArgs& x = of.x;
  const int D = x.head_dim, Dv = x.value_dim, q_step = x.heads * D, o_step = x.heads * Dv;
  const int64_t panel = int64_t(D) * block_queries;
  const real *q[max_pieces], *q_rows[max_pieces];
  real *dq[max_pieces], *panels = scratch(queries_buffer, 3 * x.pieces * panel);
  for (int p = 0; p < x.pieces; ++p, panels += 3 * panel) {
    q[p] = of.columns(panels, of.q(p), q_step, D, x.scale);
    q_rows[p] = copy_rows(panels + panel, of.q(p), q_step, of.m, D, of.width);
    dq[p] = static_cast<real*>(__builtin_memset(panels + 2 * panel, 0, size_t(panel) * sizeof(real)));
  }
  const int64_t first = of.h.query_row(of.b, of.i0);
  real* go = scratch(outputs_buffer, 2 * int64_t(Dv) * block_queries);  // do times scale, so that ds is scaled too
  const real *go_columns = of.columns(go, d_o + first * Dv, o_step, Dv, x.scale),
             *go_rows = copy_rows(go + Dv * block_queries, d_o + first * Dv, o_step, of.m, Dv, of.width);
  // after the last query the shift is infinite, and no key has a weight
  PerQuery shift{}, inverse{}, delta{};
  const real* kept = stats + 2 * ((int64_t(of.b) * x.heads + of.h.head) * x.queries + of.i0);
  for (real& m : shift.at) m = std::numeric_limits<real>::infinity();
  for (int i = 0; i < of.m; ++i, kept += 2) {
    const int64_t row = (first + int64_t(i) * x.heads) * Dv;
    shift.at[i] = kept[0], inverse.at[i] = kept[1], delta.at[i] = x.scale * dot_row(d_o + row, o + row, Dv);
  }
  real *s = scratch(pairs_buffer, block_pairs), *ds = scratch(pair_grads_buffer, block_pairs);
  for_pair_blocks(of, [&](const PairBlock& block) {
    const QueryRange c = block.all;
    const int n = block.n, width = c.end - c.first;
    const int64_t j0 = block.j0;
    const Finish more{.add = true};
    block.logits(s, q);
    gemm(n, width, Dv, {of.rows.v + j0 * Dv, Dv, 1}, go_columns + c.first, block_queries, ds + c.first, block_queries,
         {});
    weights_and_grads(block, s, ds, shift, inverse, delta);
    if (d.v)
      gemm(n, Dv, width, {s + c.first, block_queries, 1}, go_rows + c.first * Dv, Dv, sums.v + j0 * Dv, Dv, more);
    for (int u = 0; u < block.pieces; ++u) {
      const int p = block.piece[u], at = block.columns[u].first, count = block.columns[u].end - at;
      const real* dx = block.part(u, ds) + at;
      if (d.k[p]) gemm(n, D, count, {dx, block_queries, 1}, q_rows[p] + at * D, D, sums.k[p] + j0 * D, D, more);
      if (d.q[p]) gemm(count, D, n, {dx, 1, block_queries}, of.rows.k[p] + j0 * D, D, dq[p] + at * D, D, more);
    }
  });
  for (int p = 0; p < x.pieces; ++p)
    for (int i = 0; d.q[p] && i < of.m; ++i) {
      real* to = d.q[p].at + (first + int64_t(i) * x.heads) * D;
      write_channels(to, D, [&, from = dq[p] + i * D]<int W>(int e) {
        return d.q[p].empty ? load<W>(from + e) : load<W>(to + e) + load<W>(from + e);
      });
    }
}

// Adds the sums of one head to its rows of `to`, (batch, keys, kv_heads, n). With grouped keys, other heads add to the
// same rows.
inline void add_rows(Accumulator to, const real* sums, const Head& h, int b, int n) {
  if (!to) return;
  const bool assign = to.empty && h.head % (h.x.heads / h.x.kv_heads) == 0;
  for (int j = 0; j < h.x.keys; ++j, sums += n)
    write_channels(to.at + h.key_row(b, j) * n, n, [&, at = to.at + h.key_row(b, j) * n]<int W>(int c) {
      return assign ? load<W>(sums + c) : load<W>(at + c) + load<W>(sums + c);
    });
}

inline void wide_backward(const AttentionGrads& d, const AttentionArgs& x, const real* d_o, const real* o,
                          const real* stats) {
  const int64_t size = int64_t(x.keys) * (x.value_dim + x.pieces * x.head_dim);
  const int sharing = x.heads / x.kv_heads;  // number of heads that add to the same sums
  for_wide_heads(x, sharing, [&](const Head& h, int b, const KeyRows& rows) {
    const KeyRows sums(x, head_grads_buffer);
    __builtin_memset(sums.v, 0, size_t(size) * sizeof(real));
    for (int i0 = 0; i0 < x.queries && !cancelled(); i0 += block_queries)
      wide_backward(QueryBlock{h, rows, b, i0}, sums, d, d_o, o, stats);
    for (int p = 0; p < x.pieces; ++p) add_rows(d.k[p], sums.k[p], h, b, x.head_dim);
    add_rows(d.v, sums.v, h, b, x.value_dim);
  });
}

}  // namespace poslab::POSLAB_ISA
