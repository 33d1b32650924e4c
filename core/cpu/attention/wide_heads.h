// Attention of heads with 16 to 128 channels, in blocks of queries by keys (Rabe & Staats 2021; FlashAttention, Dao
// 2022): the logits of a block stay in the first cache, the softmax is updated from block to block, and blocks without
// a pair are skipped. As in narrow_heads.h queries are along the vector lanes, so that nothing is summed across lanes.
// Every step is a product of gemm.h between small panels, or a pass over the block:
//
//   S^T = K (scale Q)^T      m' = max(m, max_j s_ij)   z' = exp(m - m') z + sum_j p_ij      P^T = exp(S^T - m')
//                            O' = exp(m - m') O + P V
//
//   dP^T = V dO^T            dS^T = P^T (dP^T - delta),  delta_i = do_i . o_i               P^T = exp(S^T - m) / z
//                            dV += P^T dO   dK += scale dS^T Q   dQ += scale dS K
//
// Only for logits of q . k, in up to four pieces: no bias, gain, temperature or relative keys.
#pragma once
#include "core/cpu/attention/logits.h"

namespace poslab::POSLAB_ISA {

constexpr int block_queries = 64, block_keys = 48, block_pairs = block_keys * block_queries;
using QueryRange = KeyRange;   // a range of a block's columns

// Scratch buffers of this file; logits.h has others, not used here.
enum WideBuffer {
  pairs_buffer,
  pair_grads_buffer,
  part_buffer,
  queries_buffer,
  outputs_buffer,
  head_buffer,
  head_grads_buffer
};

// Whether this route fits. With fewer keys than a block has queries, one tile of logits.h is faster.
inline bool is_wide(const AttentionArgs& x) {
  const auto fits = [](int channels) { return channels >= 16 && channels <= 128; };
  return fits(x.head_dim) && fits(x.value_dim) && x.queries >= lanes && x.keys >= block_queries && !x.bias && !x.gain &&
         !x.temperature && !x.q_rel;
}

// m rows of n reals, `step` apart -> (all, n), dense; rows from m on are zero.
inline real* copy_rows(real* to, const real* from, ptrdiff_t step, int m, int n, int all) {
  for (int i = 0; i < m; ++i)
    write_channels(to + int64_t(i) * n, n, [at = from + i * step]<int W>(int c) { return load<W>(at + c); });
  __builtin_memset(to + int64_t(m) * n, 0, size_t(all - m) * size_t(n) * sizeof(real));
  return to;
}

// Arrays of one head of one sequence, (keys, channels): k of each piece and v, or the sums of their gradients.
struct KeyRows {
  real *k[max_pieces] = {}, *v;

  KeyRows(const AttentionArgs& x, int buffer) {
    const int64_t of_k = int64_t(x.keys) * x.head_dim, of_v = int64_t(x.keys) * x.value_dim;
    v = scratch(buffer, of_v + x.pieces * of_k);
    for (int p = 0; p < x.pieces; ++p) k[p] = v + of_v + p * of_k;
  }
};

// Queries i0 .. i0 + m - 1 of one head of one sequence, and its keys. Arrays of a block of pairs are
// (keys, block_queries): their columns are queries, counted from i0.
struct QueryBlock {  // NOLINT(*-member-init): the references ask for values, so every field gets one
  const Head& h;
  const KeyRows& rows;
  const int b, i0;
  const AttentionArgs& x = h.x;
  const int m = smaller(block_queries, x.queries - i0), width = whole_vectors(m);
  const int keys = x.key_lengths ? smaller(x.keys, x.key_lengths[b]) : x.keys;

  // The queries that see key j through piece p, which must hold this key.
  QueryRange queries_seeing(const AttentionPiece& p, int j) const {
    const int at = j - x.offset - i0;
    return overlap({at - (x.causal ? smaller(p.to, 1) : p.to) + 1, at - p.from + 1}, {0, m});
  }
  const real* q(int p) const { return x.piece[p].q + h.query_row(b, i0) * x.head_dim; }
  // factor times n channels of each query, `step` reals apart -> (n, block_queries), zeros after the last query
  const real* columns(real* to, const real* from, ptrdiff_t step, int n, real factor) const {
    if (m < width) __builtin_memset(to, 0, size_t(n) * block_queries * sizeof(real));
    transpose_rows(
        m, n, [=](int i) { return from + i * step; }, factor, to, block_queries);
    return to;
  }
};

// A block of queries by keys j0 .. j0 + n - 1: the pieces with pairs in it, each with its columns in whole vectors.
struct PairBlock {
  const QueryBlock& of;
  const int j0, n;
  int pieces = 0, piece[max_pieces] = {};
  QueryRange columns[max_pieces] = {}, all = {block_queries, 0};  // all: columns that are in any piece
  bool cut = false;                                        // some pair is in no piece, or there are several pieces

  PairBlock(const QueryBlock& queries, int j, int count) : of(queries), j0(j), n(count) {
    for (int p = 0; p < of.x.pieces; ++p) {
      const AttentionPiece& at = of.x.piece[p];
      const KeyRange held = overlap({j0, j0 + n}, {at.first, at.end});
      if (held.empty()) continue;
      const QueryRange first = of.queries_seeing(at, held.first), last = of.queries_seeing(at, held.end - 1);
      if (last.end <= first.first) continue;
      const QueryRange c = {first.first / lanes * lanes, whole_vectors(last.end)};
      cut =
          cut || pieces > 0 || held.end - held.first < n || last.first > c.first || first.end < smaller(c.end, of.m);
      all = {smaller(all.first, c.first), larger(all.end, c.end)};
      columns[pieces] = c, piece[pieces++] = p;
    }
  }
  // A vector from column c on: v for the pairs of key j0 + j that piece u holds, `other` elsewhere.
  Vec inside(int u, int j, int c, Vec v, Vec other) const {
    const AttentionPiece& p = of.x.piece[piece[u]];
    const bool held = p.first <= j0 + j && j0 + j < p.end;
    return POSLAB_ISA::inside(held ? of.queries_seeing(p, j0 + j) : QueryRange{0, 0}, c, v, other);
  }
  // s: the logits, -infinity where masked                q: scale Q^T of each piece, (head_dim, block_queries)
  void logits(real* s, const real* const* q) const {
    const int D = of.x.head_dim;
    for (int u = 0; u < pieces; ++u) {
      const QueryRange c = columns[u];
      real* to = u == 0 ? s : scratch(part_buffer, block_pairs);
      gemm(n, c.end - c.first, D, {of.rows.k[piece[u]] + int64_t(j0) * D, D, 1}, q[piece[u]] + c.first, block_queries,
           to + c.first, block_queries, {});
      if (!cut) return;
      for (int j = 0; j < n; ++j)
        for (int at = all.first; at < all.end; at += lanes) {
          real* sj = s + j * block_queries + at;
          const Vec other = u == 0 ? splat(neg_infinity) : load(sj);
          store(sj, inside(u, j, at, load(to + j * block_queries + at), other));
        }
    }
  }
  // `from` where piece u holds the pair, else 0. If there is only one piece, `from` itself: its masked pairs are 0.
  const real* part(int u, const real* from) const {
    if (pieces == 1) return from;
    real* to = scratch(part_buffer, block_pairs);
    for (int j = 0; j < n; ++j)
      for (int at = columns[u].first; at < columns[u].end; at += lanes)
        store(to + j * block_queries + at, inside(u, j, at, load(from + j * block_queries + at), Vec{}));
    return to;
  }
};

// Calls work(block) for each block of keys that some query of the block sees.
template <class Work>
void for_pair_blocks(const QueryBlock& of, const Work& work) {
  KeyRange all = {of.keys, 0};
  for (int p = 0; p < of.x.pieces; ++p) {
    const KeyRange keys = overlap(seen_keys(of.x, of.x.piece[p], of.i0, of.m), {0, of.keys});
    if (!keys.empty()) all = {smaller(all.first, keys.first), larger(all.end, keys.end)};
  }
  for (int j0 = all.first; j0 < all.end; j0 += block_keys) {
    const PairBlock block(of, j0, smaller(block_keys, all.end - j0));
    if (block.pieces) work(block);
  }
}

// A number for each query of a block, along the lanes.
struct alignas(64) PerQuery {
  real at[block_queries];
};

// The logits s -> p_ij = exp(s_ij - m'_i); earlier sums are scaled by exp(m - m').
inline void exponentials(const PairBlock& block, real* s, PerQuery& max_of, PerQuery& sum, PerQuery& fade) {
  for (int c = block.all.first; c < block.all.end; c += lanes) {
    const Vec before = load(max_of.at + c);
    Vec top = before, total{};
    for (int j = 0; j < block.n; ++j) top = max(top, load(s + j * block_queries + c));
    const Vec shift = top == neg_infinity ? Vec{} : top, fades = exp_unclamped(before - shift);
    for (int j = 0; j < block.n; ++j) {
      real* sj = s + j * block_queries + c;
      const Vec e = exp_unclamped(load(sj) - shift);
      store(sj, e);
      total += e;
    }
    store(max_of.at + c, top), store(fade.at + c, fades), store(sum.at + c, fades * load(sum.at + c) + total);
  }
}

// Computes o and the statistics of each row, for one block of queries.
inline void wide_forward(const QueryBlock& of, real* o, real* stats) {
  const AttentionArgs& x = of.x;
  const int D = x.head_dim, Dv = x.value_dim;
  const real* q[max_pieces];
  real *panels = scratch(queries_buffer, int64_t(x.pieces) * D * block_queries),
       *s = scratch(pairs_buffer, block_pairs), *total = scratch(outputs_buffer, int64_t(block_queries) * Dv);
  for (int p = 0; p < x.pieces; ++p)
    q[p] = of.columns(panels + int64_t(p) * D * block_queries, of.q(p), ptrdiff_t(x.heads) * D, D, x.scale);
  __builtin_memset(total, 0, size_t(block_queries) * size_t(Dv) * sizeof(real));
  PerQuery top{}, sum{}, fade{};
  for (real& m : top.at) m = neg_infinity;
  for_pair_blocks(of, [&](const PairBlock& block) {
    const QueryRange c = block.all;
    block.logits(s, q);
    exponentials(block, s, top, sum, fade);
    gemm(c.end - c.first, Dv, block.n, {s + c.first, 1, block_queries}, of.rows.v + int64_t(block.j0) * Dv, Dv,
         total + c.first * Dv, Dv, {.factor = fade.at + c.first});
  });
  real *to = o + of.h.query_row(of.b, of.i0) * Dv,
       *kept = stats + 2 * ((int64_t(of.b) * x.heads + of.h.head) * x.queries + of.i0);
  for (int i = 0; i < of.m; ++i, to += x.heads * Dv, total += Dv, kept += 2) {
    const real inverse = sum.at[i] == 0 ? real(0) : 1 / sum.at[i];
    write_channels(to, Dv, [=]<int W>(int c) { return load<W>(total + c) * inverse; });
    kept[0] = inverse == 0 ? real(0) : top.at[i], kept[1] = inverse;
  }
}

// Calls work(head, b, its keys) for each head of each sequence, on all threads; a thread gets `neighbours` heads.
template <class Work>
void for_wide_heads(const AttentionArgs& x, int neighbours, const Work& work) {
  const int D = x.head_dim, Dv = x.value_dim;
  for_units(x, Tiling(x), neighbours, [&](const Head& h, int, int first, int end) {
    for (int b = first; b < end && !cancelled(); ++b) {
      const KeyRows rows(x, head_buffer);
      const int64_t key = h.key_row(b, 0);
      for (int p = 0; p < x.pieces; ++p)
        copy_rows(rows.k[p], x.piece[p].k + key * D, x.kv_heads * D, x.keys, D, x.keys);
      copy_rows(rows.v, x.v + key * Dv, x.kv_heads * Dv, x.keys, Dv, x.keys);
      work(h, b, rows);
    }
  });
}

inline void wide_forward(real* o, real* stats, const AttentionArgs& x) {
  for_wide_heads(x, 1, [&](const Head& h, int b, const KeyRows& rows) {
    for (int i0 = 0; i0 < x.queries && !cancelled(); i0 += block_queries)
      wide_forward(QueryBlock{h, rows, b, i0}, o, stats);
  });
}

}  // namespace poslab::POSLAB_ISA
