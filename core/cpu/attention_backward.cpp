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
struct Partial {
  real *r, *bias;
};  // (rows, R), (rows)

// What a unit works with: sums it adds to, what it reads, its partial sums, and a block's sums laid out as its tables.
struct Unit {
  const AttentionArgs& x;
  const AttentionGrads& d;
  const real *d_o, *o, *stats;
  Partial sum;
  real *dr = nullptr, *dbias = nullptr;  // of the block: tables of (R, row), tables of (row)

  void begin(const RowBlock& rows);
  void work(const RowBlock& rows, int from, int to) const;
  void end(const RowBlock& rows, int b) const;

 private:
  void weigh(const RowBlock& rows, real* s, real* ds, int b) const;
  void products(const RowBlock& rows, const real* a, const real* ds, int b) const;
  void relative(const RowBlock& rows, const real* ds, int from, int to) const;
};

// s (m, width) -> a in s, scale ds in ds
void Unit::weigh(const RowBlock& rows, real* s, real* ds, int b) const {
  const Head& h = rows.h;
  const int D = x.head_dim, step = x.heads * D, width = h.width;
  real* v = scratch(value_slot, int64_t(D) * width);  // v^T, (D, width)
  transpose(x.keys, D, x.v + h.key(b), step, v, width);
  for (int e = 0; e < D; ++e)
    for (int j = x.keys; j < width; ++j) v[e * width + j] = 0;
  const int64_t first = h.query(b, rows.i0);
  gemm(rows.m, h.reach, D, {d_o + first, step, 1}, v, width, ds, width, false);
  const real* kept = stats + 2 * ((int64_t(b) * x.heads + h.head) * x.queries + rows.i0);
  for (int i = 0; i < rows.m; ++i, s += width, ds += width, kept += 2) {
    const real along = dot_row(d_o + first + i * step, o + first + i * step, D);
    const int seen = h.seen(rows.i0 + i);
    const real* bias = rows.bias_row(i);
    int j = 0;
    for (; j < seen; j += lanes) {
      const Vec a = exp_small(logit(s, bias, j, seen) - kept[0]) * kept[1];
      store(s + j, a);
      store(ds + j, x.scale * a * (load(ds + j) - along));
    }
    for (; j < width; j += lanes) store(s + j, Vec{}), store(ds + j, Vec{});
  }
}

// dv, dk and dq of one sequence
void Unit::products(const RowBlock& rows, const real* a, const real* ds, int b) const {
  const Head& h = rows.h;
  const int D = x.head_dim, step = x.heads * D, m = rows.m, n = h.seen(rows.i0 + m - 1);
  const int64_t first = h.query(b, rows.i0);
  const auto over_queries = [&](Accumulator to, const real* weight, const real* y) {  // to_j += sum_i weight_ij y_i
    if (!to) return;
    const bool add = rows.i0 > 0 || !to.empty;
    gemm(n, D, m, {weight, 1, h.width}, y + first, step, to.at + h.key(b), step, add);
    if (!add)  // the first block of a causal mask does not write all keys
      for (int j = n; j < x.keys; ++j)
        __builtin_memset(to.at + h.key(b) + int64_t(j) * step, 0, size_t(D) * sizeof(real));
  };
  over_queries(d.v, a, d_o);
  over_queries(d.k, ds, x.q);
  if (d.q) gemm(m, D, n, {ds, h.width, 1}, x.k + h.key(b), step, d.q.at + first, step, !d.q.empty);
}

// dq_rel of a group, and the block's sums of dr and dbias
void Unit::relative(const RowBlock& rows, const real* ds, int from, int to) const {
  const int R = x.rel_dim, count = to - from;
  const ptrdiff_t next = ptrdiff_t(x.queries) * x.heads * R;  // the same query row of the next sequence
  for (int i = 0; i < rows.m; ++i) {
    const real* dsi = ds + i * rows.h.width;
    const int64_t query = rows.h.rel_query(from, rows.i0 + i);
    if (d.q_rel)
      gemm(count, R, x.keys, {dsi, rows.sequence, 1}, rows.r_rows + rows.start(i, x.keys) * R, R, d.q_rel.at + query,
           next, !d.q_rel.empty);
    if (dr)
      gemm(R, rows.h.reach, count, {x.q_rel + query, 1, next}, dsi, rows.sequence, dr + rows.start(i, R * rows.row),
           rows.row, true);
    if (dbias)
      for (int b = 0; b < count; ++b)
        write_row(dbias + rows.start(i, rows.row), true, x.keys,
                  [at = dsi + b * rows.sequence](int j, int some) { return load_some(at + j, some); });
  }
}

void Unit::begin(const RowBlock& rows) {
  const auto zeros = [](int slot, int64_t n) {
    return static_cast<real*>(__builtin_memset(scratch(slot, n), 0, size_t(n) * sizeof(real)));
  };
  if (sum.r) dr = zeros(rel_grad_slot, int64_t(rows.tables) * x.rel_dim * rows.row);
  if (sum.bias) dbias = zeros(bias_grad_slot, int64_t(rows.tables) * rows.row);
}

void Unit::work(const RowBlock& rows, int from, int to) const {
  real *s = scratch(logits_slot, (to - from) * rows.sequence), *ds = scratch(grad_slot, (to - from) * rows.sequence);
  rows.fill(s, from, to);
  for (int b = from; b < to; ++b) {
    const ptrdiff_t at = (b - from) * rows.sequence;
    weigh(rows, s + at, ds + at, b);
    products(rows, s + at, ds + at, b);
  }
  relative(rows, ds, from, to);
}

// The block's sums go to the rows of r and bias that its columns stand for.
void Unit::end(const RowBlock& rows, int b) const {
  const int R = x.rel_dim;
  for (int t = 0; t < rows.tables; ++t) {
    if (dr) {
      real* transposed = scratch(value_slot, int64_t(rows.columns) * R);  // (columns, R)
      transpose(R, rows.columns, dr + int64_t(t) * R * rows.row, rows.row, transposed, R);
      for (int c = 0; c < rows.columns; ++c, transposed += R) {
        real* to = sum.r + rows.pair(b, t, c) * R;
        write_channels(to, R, [=]<int W>(int e) { return load<W>(to + e) + load<W>(transposed + e); });
      }
    }
    for (int c = 0; dbias && c < rows.columns; ++c) sum.bias[rows.pair(b, t, c)] += dbias[int64_t(t) * rows.row + c];
  }
}

// to[p][head] += factor * sum over runs of partial[run][head][p], each n reals
void add_partials(Accumulator to, const AttentionArgs& x, int runs, const real* partial, int64_t stride, int n, real factor) {
  parallel_ranges(x.rows, 64, [&](int64_t from, int64_t until) {
    for (int64_t p = from; p < until; ++p)
      for (int head = 0; head < x.heads; ++head) {
        real* sum = to.at + (p * x.heads + head) * n;
        write_channels(sum, n, [&]<int W>(int e) {
          VecOf<W> total{};
          for (int run = 0; run < runs; ++run)
            total += load<W>(partial + (int64_t(run) * x.heads + head) * stride + p * n + e);
          return to.empty ? factor * total : load<W>(sum + e) + factor * total;
        });
      }
  });
}

}  // namespace

void attention_backward(const AttentionGrads& d, const AttentionArgs& x, const real* d_o, const real* o,
                        const real* stats) {
  const Plan plan(x);
  const int64_t rows_r = d.r ? int64_t(x.rows) * x.rel_dim : 0, rows_bias = d.bias ? x.rows : 0,
                stride = rows_r + rows_bias;
  real* partial = stride ? scratch(partial_slot, stride * plan.runs * x.heads) : nullptr;
  for_units(x, plan, [&](const Head& h, int run, int first, int last) {
    real* at = partial + (int64_t(run) * x.heads + h.head) * stride;
    if (stride) __builtin_memset(at, 0, size_t(stride) * sizeof(real));
    Unit unit{x, d, d_o, o, stats, {d.r ? at : nullptr, d.bias ? at + rows_r : nullptr}};
    for_groups(
        h, plan, first, last,
        [&](RowBlock& rows, int b) {
          if (d.q_rel) rows.prepare_rows(b);
          unit.begin(rows);
        },
        [&](const RowBlock& rows, int from, int to) { unit.work(rows, from, to); },
        [&](const RowBlock& rows, int b) { unit.end(rows, b); });
  });
  if (d.r) add_partials(d.r, x, plan.runs, partial, stride, x.rel_dim, 1);
  if (d.bias) add_partials(d.bias, x, plan.runs, partial + rows_r, stride, 1, 1 / x.scale);
}

}  // namespace poslab::POSLAB_ISA
