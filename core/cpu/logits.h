// The logits of attention for a block of query rows, and how the work is cut.
//
//   s_ij = scale (q_i . k_j + q_rel_i . r[pair(i,j)]) + bias[pair(i,j)]
//
// Keys lie along the vector lanes. Sequences that share their table of pairs are worked off as a group, one query row of all of
// them at a time: the rows of r that the table names are then fetched once for the group.
#pragma once
#include "core/cpu/gemm.h"
#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/parallel.h"

namespace poslab::POSLAB_ISA {

inline int smaller(int a, int b) { return a < b ? a : b; }
inline int whole_vectors(int n) { return (n + lanes - 1) / lanes * lanes; }   // so that rows have no ends to treat

// Scratch slots of attention on one thread.
enum Slot { logits_slot, key_slot, rel_slot, product_slot, grad_slot, value_slot, partial_slot };

// How attention is cut, a function of the shapes alone: units of one head and a run of sequences, in each unit groups of
// sequences, in each group blocks of query rows.
struct Plan {
  int runs, per_run, group, block;

  explicit Plan(const AttentionArgs& x) {
    const bool shared = x.pairs && x.pairs_batch == 1;
    const int wanted =
        smaller(x.batch, shared ? 2 : 16);  // with pairs, each run has a partial sum of dr, and r is large
    per_run = (x.batch + wanted - 1) / wanted;
    runs = (x.batch + per_run - 1) / per_run;
    group = shared ? smaller(per_run, 16) : 1;
    block = smaller(x.queries, 64);
    while (block > 8 && int64_t(block) * x.keys * group > 64 * 1024) block /= 2;   // logits in flight stay in the cache
    while (group > 1 && int64_t(block) * x.keys * group > 64 * 1024) group /= 2;
  }
};

// Calls work(head, run, from, to) for each unit, on all threads.
template <class Work>
void for_units(const AttentionArgs& x, const Plan& plan, const Work& work) {
  parallel_for(int64_t(plan.runs) * x.heads, [&](int64_t u) {
    const int run = int(u) / x.heads, from = run * plan.per_run;
    work(int(u) % x.heads, run, from, smaller(from + plan.per_run, x.batch));
  });
}
// Calls work(from, to, i0, m) for each group of sequences and block of query rows of a unit.
template <class Work>
void for_blocks(const AttentionArgs& x, const Plan& plan, int from, int to, const Work& work) {
  for (int b = from; b < to; b += plan.group)
    for (int i0 = 0; i0 < x.queries; i0 += plan.block)
      work(b, smaller(b + plan.group, to), i0, smaller(plan.block, x.queries - i0));
}

// One head of one call: where its rows are.
struct Head {
  const AttentionArgs& x;
  const int head;
  const int width = whole_vectors(x.keys);
  const int ahead = x.keys - x.queries;                          // query i stands at slot i + ahead

  int seen(int i) const { return x.causal ? i + ahead + 1 : x.keys; }       // keys that query i may look at
  int64_t query(int b, int i) const { return ((int64_t(b) * x.queries + i) * x.heads + head) * x.head_dim; }
  int64_t key(int b) const { return (int64_t(b) * x.keys * x.heads + head) * x.head_dim; }
  int64_t rel_query(int b, int i) const { return ((int64_t(b) * x.queries + i) * x.heads + head) * x.rel_dim; }
  const int* pair_row(int b, int i) const {
    return x.pairs + (int64_t(x.pairs_batch == 1 ? 0 : b) * x.queries + i) * x.keys;
  }

  // Without pairs, a block of m rows from i0 reads the rows of r and bias from `first` on; row i0 + i reads key j at
  // first + shift(i) + j. This is Transformer-XL's "relative shift", as a pointer.
  int first(int i0, int m) const { return x.keys - (i0 + m + ahead); }
  static int shift(int i, int m) { return m - 1 - i; }
  int distances(int m) const { return x.keys - 1 + m; }

  void fill(real* s, int from, int to, int i0, int m) const;

 private:
  void add_by_distance(real* s, int b, int i0, int m) const;
  void add_by_pair(real* s, int from, int to, int i0, int m) const;
};

// Logits of rows i0 .. i0 + m of sequences from .. to, each (m, width); masked keys and padding are -infinity.
inline void Head::fill(real* s, int from, int to, int i0, int m) const {
  const int D = x.head_dim, row = x.heads * D;
  real* k = scratch(key_slot, int64_t(D) * width);               // scale k^T, (D, width)
  for (int b = from; b < to; ++b) {
    real* sb = s + int64_t(b - from) * m * width;
    for (int d = 0; d < D; ++d) {
      for (int j = 0; j < x.keys; ++j) k[d * width + j] = x.scale * x.k[key(b) + int64_t(j) * row + d];
      for (int j = x.keys; j < width; ++j) k[d * width + j] = 0;
    }
    gemm(m, width, D, {x.q + query(b, i0), row, 1}, k, width, sb, width, false);
    if (!x.pairs) add_by_distance(sb, b, i0, m);
  }
  if (x.pairs) add_by_pair(s, from, to, i0, m);
  for (int b = from; b < to; ++b)
    for (int i = 0; i < m; ++i) {
      real* si = s + (int64_t(b - from) * m + i) * width;
      for (int j = seen(i0 + i); j < width; ++j) si[j] = -std::numeric_limits<real>::infinity();
    }
}

inline void Head::add_by_distance(real* s, int b, int i0, int m) const {
  const int R = x.rel_dim, n = distances(m), first_row = first(i0, m), product_width = whole_vectors(m - 1 + width);
  if (x.q_rel) {
    real *r = scratch(rel_slot, int64_t(R) * product_width),
         *product = scratch(product_slot, int64_t(m) * product_width);
    for (int e = 0; e < R; ++e) {                                // scale r^T, (R, product_width)
      for (int c = 0; c < n; ++c)
        r[e * product_width + c] = x.scale * x.r[(int64_t(first_row + c) * x.heads + head) * R + e];
      for (int c = n; c < product_width; ++c) r[e * product_width + c] = 0;
    }
    gemm(m, product_width, R, {x.q_rel + rel_query(b, i0), x.heads * R, 1}, r, product_width, product, product_width,
         false);
    for (int i = 0; i < m; ++i) {
      const real* from = product + int64_t(i) * product_width + shift(i, m);
      for (int j = 0; j < width; j += lanes) store(s + i * width + j, load(s + i * width + j) + load(from + j));
    }
  }
  if (x.bias)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < x.keys; ++j)
        s[i * width + j] += x.bias[int64_t(first_row + shift(i, m) + j) * x.heads + head];
}

inline void Head::add_by_pair(real* s, int from, int to, int i0, int m) const {
  const int R = x.rel_dim;
  const int64_t sequence = int64_t(m) * width;
  for (int i = 0; i < m; ++i) {
    const int* pair = pair_row(from, i0 + i);
    if (x.q_rel) {
      real* r = scratch(rel_slot, int64_t(R) * width);           // scale r^T of this row's keys, (R, width)
      for (int j = 0; j < width; ++j)
        for (int e = 0; e < R; ++e)
          r[e * width + j] = j < x.keys ? x.scale * x.r[(int64_t(pair[j]) * x.heads + head) * R + e] : 0;
      const ptrdiff_t next = ptrdiff_t(x.queries) * x.heads * R;  // the same query row of the next sequence
      gemm(to - from, width, R, {x.q_rel + rel_query(from, i0 + i), next, 1}, r, width, s + i * width, sequence, true);
    }
    if (x.bias)
      for (int b = from; b < to; ++b)
        for (int j = 0; j < x.keys; ++j)
          s[(b - from) * sequence + i * width + j] += x.bias[int64_t(pair[j]) * x.heads + head];
  }
}

}  // namespace poslab::POSLAB_ISA
