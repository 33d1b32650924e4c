// Fused attention, backward. The weights are computed again from the logits and the two numbers kept for each row:
//
//   a_ij = exp(s_ij - max_i) / z_i     ds_ij = a_ij (do_i . v_j - do_i . o_i)
//   dv_j += sum_i a_ij do_i           dq_i += scale sum_j ds_ij k_j            dk_j += scale sum_i ds_ij q_i
//   dq_rel_i += scale sum_j ds_ij r[pair(i,j)]     dr[p] += scale sum_ij [pair(i,j) = p] ds_ij q_rel_i     dbias[p] += the same, of ds_ij
//
// dr and dbias collect from the whole batch: each unit has a partial sum of its own, and these are added in order.
#include "core/cpu/logits.h"

namespace poslab::POSLAB_ISA {
namespace {

// One unit's sums over the rows of r and bias for its head.
struct Partial { real *r, *bias; };      // (rows, R), (rows)

// s (m, width) -> a in s, scale ds in ds; v_turned: (D, width)
void weigh(const Head& h, real* s, real* ds, int b, int i0, int m, const real* v_turned, const real* d_o, const real* o,
           const real* stats) {
  const AttentionArgs& x = h.x;
  const int D = x.head_dim, row = x.heads * D;
  gemm(m, h.width, D, {d_o + h.query(b, i0), row, 1}, v_turned, h.width, ds, h.width, false);
  for (int i = 0; i < m; ++i) {
    const int64_t at = h.query(b, i0 + i);
    real along = 0;                                              // do_i . o_i
    for (int d = 0; d < D; ++d) along += d_o[at + d] * o[at + d];
    const real* w = stats + 2 * ((int64_t(b) * x.heads + h.head) * x.queries + i0 + i);
    const real most = w[0], inverse = w[1];
    for (int j = i * h.width; j < (i + 1) * h.width; j += lanes) {
      const Vec a = exp(load(s + j) - most) * inverse;
      store(s + j, a);
      store(ds + j, x.scale * a * (load(ds + j) - along));
    }
  }
}

void by_distance(const Head& h, const real* ds, int b, int i0, int m, Sum dq_rel, bool r_wanted, bool bias_wanted,
                 Partial sum) {
  const AttentionArgs& x = h.x;
  const int R = x.rel_dim, n = h.distances(m), first = h.first(i0, m), row = x.heads * R;
  if (bias_wanted)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < x.keys; ++j) sum.bias[first + h.shift(i, m) + j] += ds[i * h.width + j];
  if (!dq_rel && !r_wanted) return;
  real* shifted = scratch(product_slot, int64_t(m) * n);         // ds with distances as columns, (m, n)
  for (int i = 0; i < m; ++i) {
    real* to = shifted + int64_t(i) * n;
    for (int c = 0; c < n; ++c) to[c] = 0;
    __builtin_memcpy(to + h.shift(i, m), ds + i * h.width, size_t(x.keys) * sizeof(real));
  }
  if (dq_rel)
    gemm(m, R, n, {shifted, n, 1}, x.r + (int64_t(first) * x.heads + h.head) * R, row, dq_rel.at + h.rel_query(b, i0),
         row, !dq_rel.empty);
  if (r_wanted) gemm(n, R, m, {shifted, 1, n}, x.q_rel + h.rel_query(b, i0), row, sum.r + int64_t(first) * R, R, true);
}

void by_pair(const Head& h, const real* ds, int from, int to, int i0, int m, Sum dq_rel, bool r_wanted,
             bool bias_wanted, Partial sum) {
  const AttentionArgs& x = h.x;
  const int R = x.rel_dim, count = to - from;
  const ptrdiff_t sequence = ptrdiff_t(m) * h.width, next = ptrdiff_t(x.queries) * x.heads * R;
  for (int i = 0; i < m; ++i) {
    const int* pair = h.pair_row(from, i0 + i);
    const real* dsi = ds + i * h.width;  // of the first sequence; the others `sequence` further each
    if (bias_wanted)
      for (int b = 0; b < count; ++b)
        for (int j = 0; j < x.keys; ++j) sum.bias[pair[j]] += dsi[b * sequence + j];
    if (dq_rel) {
      real* r = scratch(rel_slot, int64_t(x.keys) * R);          // r of this row's keys, (keys, R)
      for (int j = 0; j < x.keys; ++j)
        for (int e = 0; e < R; ++e) r[j * R + e] = x.r[(int64_t(pair[j]) * x.heads + h.head) * R + e];
      gemm(count, R, x.keys, {dsi, sequence, 1}, r, R, dq_rel.at + h.rel_query(from, i0 + i), next, !dq_rel.empty);
    }
    if (r_wanted) {
      real* dr = scratch(product_slot, int64_t(x.keys) * R);     // sum over the group, (keys, R)
      gemm(x.keys, R, count, {dsi, 1, sequence}, x.q_rel + h.rel_query(from, i0 + i), next, dr, R, false);
      for (int j = 0; j < x.keys; ++j)
        for (int e = 0; e < R; ++e) sum.r[int64_t(pair[j]) * R + e] += dr[j * R + e];
    }
  }
}

// to[p][head] += factor * sum over runs of partial[run][head][p], each n reals
void add_partials(Sum to, const AttentionArgs& x, int runs, const real* partial, int64_t stride, int n, real factor) {
  parallel_ranges(x.rows, 64, [&](int64_t from, int64_t until) {
    for (int64_t p = from; p < until; ++p)
      for (int head = 0; head < x.heads; ++head)
        for (int e = 0; e < n; ++e) {
          real total = 0;
          for (int run = 0; run < runs; ++run) total += partial[(int64_t(run) * x.heads + head) * stride + p * n + e];
          real& at = to.at[(p * x.heads + head) * n + e];
          at = (to.empty ? 0 : at) + factor * total;
        }
  });
}

}  // namespace

void attention_backward(const AttentionSums& d, const AttentionArgs& x, const real* d_o, const real* o,
                        const real* stats) {
  const Plan plan(x);
  const int D = x.head_dim, R = x.rel_dim, row = x.heads * D;
  const bool r_wanted = bool(d.r), bias_wanted = bool(d.bias);
  const int64_t stride = int64_t(x.rows) * (R + 1);              // one unit's partial sums
  real* partial = r_wanted || bias_wanted ? scratch(partial_slot, stride * plan.runs * x.heads) : nullptr;
  for_units(x, plan, [&](int head, int run, int first, int last) {
    const Head h{x, head};
    Partial sum{partial + (int64_t(run) * x.heads + head) * stride, nullptr};
    sum.bias = sum.r + int64_t(x.rows) * R;
    if (partial) __builtin_memset(sum.r, 0, size_t(stride) * sizeof(real));
    for_blocks(x, plan, first, last, [&](int from, int to, int i0, int m) {
      real* s = scratch(logits_slot, int64_t(to - from) * m * h.width);
      real* ds = scratch(grad_slot, int64_t(to - from) * m * h.width);
      real* v = scratch(value_slot, int64_t(D) * h.width);       // v^T, (D, width)
      h.fill(s, from, to, i0, m);
      for (int b = from; b < to; ++b) {
        real *a = s + int64_t(b - from) * m * h.width, *dsb = ds + int64_t(b - from) * m * h.width;
        for (int e = 0; e < D; ++e)
          for (int j = 0; j < h.width; ++j) v[e * h.width + j] = j < x.keys ? x.v[h.key(b) + int64_t(j) * row + e] : 0;
        weigh(h, a, dsb, b, i0, m, v, d_o, o, stats);
        const int n = h.seen(i0 + m - 1);  // the first block of a causal mask does not write all keys
        const auto add = [&](Sum to) { return i0 > 0 || !to.empty; };
        const auto clear_rest = [&](Sum to) {
          for (int j = n; j < x.keys; ++j)
            if (!add(to)) __builtin_memset(to.at + h.key(b) + int64_t(j) * row, 0, size_t(D) * sizeof(real));
        };
        if (d.v)
          gemm(n, D, m, {a, 1, h.width}, d_o + h.query(b, i0), row, d.v.at + h.key(b), row, add(d.v)), clear_rest(d.v);
        if (d.k)
          gemm(n, D, m, {dsb, 1, h.width}, x.q + h.query(b, i0), row, d.k.at + h.key(b), row, add(d.k)),
              clear_rest(d.k);
        if (d.q) gemm(m, D, n, {dsb, h.width, 1}, x.k + h.key(b), row, d.q.at + h.query(b, i0), row, !d.q.empty);
        if (!x.pairs) by_distance(h, dsb, b, i0, m, d.q_rel, r_wanted, bias_wanted, sum);
      }
      if (x.pairs) by_pair(h, ds, from, to, i0, m, d.q_rel, r_wanted, bias_wanted, sum);
    });
  });
  if (r_wanted) add_partials(d.r, x, plan.runs, partial, stride, R, 1);
  if (bias_wanted) add_partials(d.bias, x, plan.runs, partial + int64_t(x.rows) * R, stride, 1, 1 / x.scale);
}

}  // namespace poslab::POSLAB_ISA
