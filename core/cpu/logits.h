// The logits of attention for a block of query rows, and how the work is cut.
//
//   s_ij = scale (q_i . k_j + q_rel_i . r[pair(i,j)]) + bias[pair(i,j)]
//
// Keys lie along the vector lanes. The rows of r that a query row meets are the same for all sequences that share their table
// of pairs, so these are worked off as a group: one small product for a query row of all of them.
#pragma once
#include "core/cpu/gemm.h"
#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/parallel.h"

namespace poslab::POSLAB_ISA {

constexpr int smaller(int a, int b) { return a < b ? a : b; }
inline int rounded_up(int n, int to) { return (n + to - 1) / to * to; }
inline int whole_vectors(int n) { return rounded_up(n, lanes); }  // so that rows have no ends to treat

// to_j = y(j) for j < n, where n is a head's few channels: in vectors of 8, whose stores the next loads can see.
template <class Y>
inline void write_channels(real* to, int n, const Y& y) {
  constexpr int W = smaller(lanes, 8);
  int j = 0;
  for (; j + W <= n; j += W) store<W>(to + j, y.template operator()<W>(j));
  for (; j < n; ++j) store<1>(to + j, y.template operator()<1>(j));
}

// Scratch slots of attention on one thread.
enum Slot {
  logits_slot,
  key_slot,
  value_slot,
  grad_slot,
  rel_slot,
  bias_slot,
  rel_rows_slot,
  rel_grad_slot,
  bias_grad_slot,
  partial_slot
};

// How attention is cut, a function of the shapes alone: units of one head and a run of sequences, in each unit blocks of
// query rows, in each block groups of sequences.
struct Plan {
  int runs = 16, per_run, group = 8, block;

  explicit Plan(const AttentionArgs& x) {
    while (runs > 2 && int64_t(runs) * x.rows > 8 * 1024) runs /= 2;  // each run has a partial sum of dr
    runs = smaller(runs, x.batch);
    if ((x.q_rel || x.pairs) && x.pairs_batch == 1)              // tables cost much: a whole group shares each
      while (runs > 2 && x.batch < runs * group) runs /= 2;
    per_run = (x.batch + runs - 1) / runs;
    runs = (x.batch + per_run - 1) / per_run;
    group = x.q_rel && x.pairs_batch == 1 ? smaller(per_run, group) : 1;
    block = smaller(x.queries, 64);
    while (block > 8 && int64_t(block) * x.keys * group > 64 * 1024) block /= 2;  // logits in flight stay in the cache
    while (group > 1 && int64_t(block) * x.keys * group > 64 * 1024) group /= 2;
  }
};

// One head of one call: where its rows are.
struct Head {
  const AttentionArgs& x;
  const int head;
  const int width = whole_vectors(x.keys);
  const int reach = rounded_up(x.keys, lanes / 2);  // columns that products fill; those behind hold anything
  const int ahead = x.keys - x.queries;  // query i stands at slot i + ahead

  int seen(int i) const { return x.causal ? i + ahead + 1 : x.keys; }  // keys that query i may look at
  int64_t query(int b, int i) const { return ((int64_t(b) * x.queries + i) * x.heads + head) * x.head_dim; }
  int64_t key(int b) const { return (int64_t(b) * x.keys * x.heads + head) * x.head_dim; }
  int64_t rel_query(int b, int i) const { return ((int64_t(b) * x.queries + i) * x.heads + head) * x.rel_dim; }
};

// Query rows i0 .. i0 + m of one head, and what r and bias hold for them: tables whose columns are pairs. With `pairs`, each
// query row has a table of its own, of its keys. Without, one table of all distances serves: query row i reads key j in
// column shift(i) + j. This is Transformer-XL's "relative shift", as a pointer.
struct RowBlock {
  const Head& h;
  const int i0, m;
  const bool keys_transposed;        // the block before was of the same sequence, and left its keys turned
  const AttentionArgs& x = h.x;
  const int tables = x.pairs ? m : 1;
  const int columns = x.pairs ? x.keys : x.keys - 1 + m;
  const int row = whole_vectors(x.pairs ? x.keys : m - 1 + h.width);  // from one row of a table to the next
  // The sequences of a group lie a little more than a block apart, lest they fall into the same lines of the cache.
  const ptrdiff_t sequence = ptrdiff_t(m) * h.width + lanes;
  const real *r = nullptr, *r_rows = nullptr, *bias = nullptr;  // see prepare

  int shift(int i) const { return m - 1 - i; }
  int64_t start(int i, int of) const {
    return x.pairs ? int64_t(i) * of : shift(i);
  }  // of query row i in tables of `of` reals
  // The row of r and bias that column c of table t stands for, b: a sequence to which the tables belong.
  int64_t pair(int b, int t, int c) const {
    if (!x.pairs) return x.keys - (i0 + m + h.ahead) + c;
    return x.pairs[((x.pairs_batch == 1 ? 0 : int64_t(b)) * x.queries + i0 + t) * x.keys + c];
  }

  // For sequence b and those that share its pairs:   r: scale r^T, tables of (R, row)   bias: tables of (row)
  void prepare(int b);
  void prepare_rows(int b);  // r_rows: r, tables of (columns, R)

  // Logits of sequences from .. to but for the bias, each (m, width), `sequence` apart. Those of masked keys are not yet so.
  void fill(real* s, int from, int to) const;
  const real* bias_row(int i) const { return bias ? bias + start(i, row) : nullptr; }
};

inline void RowBlock::prepare(int b) {
  if (x.q_rel) {
    const int R = x.rel_dim;
    real* to = scratch(rel_slot, int64_t(tables) * R * row);
    r = to;
    for (int t = 0; t < tables; ++t, to += int64_t(R) * row) {
      transpose_rows(
          columns, R, [&](int c) { return x.r + (pair(b, t, c) * x.heads + h.head) * R; }, x.scale, to, row);
      for (int e = 0; e < R; ++e)
        for (int c = columns; c < row; ++c) to[e * row + c] = 0;
    }
  }
  if (x.bias) {
    real* to = scratch(bias_slot, int64_t(tables) * row);
    bias = to;
    for (int t = 0; t < tables; ++t, to += row) {
      for (int c = 0; c < columns; ++c) to[c] = x.bias[pair(b, t, c) * x.heads + h.head];
      for (int c = columns; c < row; ++c) to[c] = 0;
    }
  }
}

inline void RowBlock::prepare_rows(int b) {
  const int R = x.rel_dim;
  real* to = scratch(rel_rows_slot, int64_t(tables) * columns * R);
  r_rows = to;
  for (int t = 0; t < tables; ++t)
    for (int c = 0; c < columns; ++c, to += R)
      write_channels(to, R,
                     [from = x.r + (pair(b, t, c) * x.heads + h.head) * R]<int W>(int e) { return load<W>(from + e); });
}

inline void RowBlock::fill(real* s, int from, int to) const {
  const int D = x.head_dim, R = x.rel_dim, width = h.width, step = x.heads * D;
  if (x.q_rel)
    for (int i = 0; i < m; ++i) {  // one query row of all sequences
      const ptrdiff_t next = ptrdiff_t(x.queries) * x.heads * R;
      gemm(to - from, h.reach, R, {x.q_rel + h.rel_query(from, i0 + i), next, 1}, r + start(i, R * row), row,
           s + i * width, sequence, false);
    }
  real* k = scratch(key_slot, int64_t(D) * width);  // scale k^T, (D, width)
  for (int d = 0; d < D; ++d)
    for (int j = x.keys; j < width; ++j) k[d * width + j] = 0;
  for (int b = from; b < to; ++b) {
    transpose_rows(
        x.keys, D, [at = x.k + h.key(b), step](int j) { return at + int64_t(j) * step; }, x.scale, k, width);
    gemm(m, h.reach, D, {x.q + h.query(b, i0), step, 1}, k, width, s + (b - from) * sequence, width, bool(x.q_rel));
  }
}

// Calls work(head, run, from, to) for each unit, on all threads. Heads that share cache lines stay on one thread.
template <class Work>
void for_units(const AttentionArgs& x, const Plan& plan, const Work& work) {
  const int together = x.head_dim < 64 / int(sizeof(real)) ? 64 / int(sizeof(real)) / x.head_dim : 1;
  const int bundles = (x.heads + together - 1) / together;
  parallel_for(int64_t(plan.runs) * bundles, [&](int64_t u) {
    const int run = int(u) / bundles, from = run * plan.per_run, first = int(u) % bundles * together;
    for (int head = first; head < smaller(first + together, x.heads); ++head)
      work(Head{x, head}, run, from, smaller(from + plan.per_run, x.batch));
  });
}
// Calls begin(rows, b) when the tables of a block of rows are needed, for the sequences from b on; work(rows, from, to) for
// each group of sequences; and end(rows, b) when its tables are done with.
template <class Begin, class Work, class End>
void for_groups(const Head& h, const Plan& plan, int from, int to, const Begin& begin, const Work& work,
                const End& end) {
  const AttentionArgs& x = h.x;
  const bool tables = x.q_rel || x.bias;
  const int shared = tables && x.pairs_batch == 1 ? to - from : 1;   // sequences that one set of tables serves
  const auto block = [&](int i0, int first, bool again) {
    RowBlock rows{h, i0, smaller(plan.block, x.queries - i0), again};
    rows.prepare(first);
    begin(rows, first);
    for (int b = first; b < first + shared; b += plan.group) work(rows, b, smaller(b + plan.group, first + shared));
    end(rows, first);
  };
  for (int first = from; first < to; first += shared)
    for (int i0 = 0; i0 < x.queries; i0 += plan.block) block(i0, first, shared == 1 && i0 > 0);
}

// The logit of key j and the lanes - 1 after it; beyond the keys that are `seen`, -infinity.
inline Vec logit(const real* s, const real* bias, int j, int seen) {
  const Vec v = bias ? load(s + j) + load(bias + j) : load(s + j);
  return j + lanes <= seen ? v : first_lanes(seen - j) ? v : splat(-std::numeric_limits<real>::infinity());
}

}  // namespace poslab::POSLAB_ISA
