// Arithmetic over a StridedLoop: broadcasting, reductions, and copies in any order of dimensions.
//
// The compiler vectorizes the inner runs. The outer dimensions are counted like the digits of an odometer.
#include <cmath>

#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/platform/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

constexpr int64_t grain = 16384;   // elements in one piece of work

int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t at_least(int64_t a, int64_t b) { return a < b ? b : a; }
int64_t pieces(int64_t n, int64_t size) { return (n + size - 1) / size; }

void append(StridedLoop& to, const StridedLoop& from, int d) {
  to.size[to.dims] = from.size[d], to.y[to.dims] = from.y[d], to.a[to.dims] = from.a[d], to.b[to.dims] = from.b[d];
  ++to.dims;
}

// A position in a loop, initially the n-th: its index, and the offsets of its elements in y, a and b.
struct Place {
  const StridedLoop& loop;
  int64_t index[StridedLoop::max_dims] = {}, y = 0, a = 0, b = 0;

  Place(const StridedLoop& over, int64_t n) : loop(over) {
    for (int d = loop.dims; d-- > 0; n /= loop.size[d]) index[d] = n % loop.size[d], move(d, index[d]);
  }
  void move(int d, int64_t by) { y += by * loop.y[d], a += by * loop.a[d], b += by * loop.b[d]; }
  void next() {
    for (int d = loop.dims; d-- > 0;) {
      move(d, 1);
      if (++index[d] < loop.size[d]) return;
      move(d, -loop.size[d]), index[d] = 0;
    }
  }
};

// A loop cut into rows along its innermost dimension; `outer` loops over all other dimensions.
struct Rows {
  StridedLoop outer;
  int64_t n = 1, y = 1, a = 0, b = 0;   // length and strides of a row
  explicit Rows(const StridedLoop& loop) : outer(loop) {
    if (loop.dims == 0) return;
    const int d = --outer.dims;
    n = loop.size[d], y = loop.y[d], a = loop.a[d], b = loop.b[d];
  }
};

// Calls row(offset in y, in a, in b, length) for each row; a single long row is cut into several.
template <class Row>
void for_rows(const Rows& rows, const Row& row) {
  const int64_t count = rows.outer.count();
  if (count == 1)
    return parallel_ranges(rows.n, grain, [&](int64_t from, int64_t to) {
      row(from * rows.y, from * rows.a, from * rows.b, to - from);
    });
  parallel_ranges(count, at_least(1, grain / rows.n), [&](int64_t from, int64_t to) {
    for (Place p(rows.outer, from); from < to; ++from, p.next()) row(p.y, p.a, p.b, rows.n);
  });
}

// In broadcasting, the innermost strides of a and b are 1, or 0 where one number is repeated.
template <class F>
void binary(real* y, const real* a, const real* b, const StridedLoop& loop, const F& f) {
  Rows rows(loop);
  rows.y = 1;
  for (int64_t d = rows.outer.dims, step = rows.n; d-- > 0; step *= loop.size[d]) rows.outer.y[d] = step;
  for_rows(rows, [&](int64_t y_at, int64_t a_at, int64_t b_at, int64_t n) {
    real* to = y + y_at;
    const real *from = a + a_at, *with = b + b_at;
    if (rows.a == 1 && rows.b == 1)
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) to[j] = f(from[j], with[j]);
    else if (rows.a == 1)
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) to[j] = f(from[j], *with);
    else if (rows.b == 1)
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) to[j] = f(*from, with[j]);
    else
      for (int64_t j = 0; j < n; ++j) to[j] = f(*from, *with);
  });
}

// -- reductions ------------------------------------------------------------------------------------------------------

void write(Accumulator y, int64_t at, real value) { y.at[at] = y.empty ? value : y.at[at] + value; }

// Sum of n numbers `step` apart: four vectors of partial sums, because an addition takes four cycles.
real sum_run(const real* a, int64_t n, int64_t step) {
  if (step != 1) {
    double s = 0;
    for (int64_t j = 0; j < n; ++j) s += double(a[j * step]);
    return real(s);
  }
  Vec s[4] = {};
  int64_t j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes)
    for (int u = 0; u < 4; ++u) s[u] += load(a + j + u * lanes);
  for (; j + lanes <= n; j += lanes) s[0] += load(a + j);
  if (j < n) s[1] += load_first(a + j, int(n - j));
  return sum_lanes((s[0] + s[1]) + (s[2] + s[3]));
}

// The innermost dimension is summed: one sum for each index of `kept`. Units of at most `grain` elements are summed
// in the precision of real, and their sums in double.
void sum_rows(Accumulator y, const real* a, const StridedLoop& kept, const Rows& reduced) {
  const int64_t chunks = pieces(reduced.n, grain), units = reduced.outer.count() * chunks;
  const int64_t per_partial = chunks > 1 ? 1 : at_least(1, grain / reduced.n),
                partial_sums = pieces(units, per_partial);
  const auto partial_sum = [&](int64_t place, int64_t first) {
    double s = 0;
    Place p(reduced.outer, first / chunks);
    for (int64_t u = first; u < at_most(units, first + per_partial); ++u) {
      const int64_t from = u % chunks * grain;
      s += double(sum_run(a + place + p.a + from * reduced.a, at_most(grain, reduced.n - from), reduced.a));
      if (u % chunks == chunks - 1) p.next();
    }
    return real(s);
  };
  const int64_t count = kept.count();
  if (partial_sums == 1)
    return parallel_ranges(count, at_least(1, grain / (units * reduced.n)), [&](int64_t from, int64_t to) {
      for (Place p(kept, from); from < to; ++from, p.next()) write(y, p.y, partial_sum(p.a, 0));
    });
  real* partial = scratch(0, count * partial_sums);
  parallel_for(count * partial_sums, [&](int64_t i) {
    partial[i] = partial_sum(Place(kept, i / partial_sums).a, i % partial_sums * per_partial);
  });
  Place p(kept, 0);
  for (int64_t k = 0; k < count; ++k, p.next()) {
    double s = 0;
    for (int64_t i = 0; i < partial_sums; ++i) s += double(partial[k * partial_sums + i]);
    write(y, p.y, real(s));
  }
}

constexpr int64_t columns = 256;   // columns summed at a time, which fit the first cache
constexpr int64_t block = 512;     // rows of one partial sum; partial sums are added up last, which is more precise

// out_j = sum of a_j over the indices from .. to-1 of `reduced`                                        j < n <= columns
void sum_block(real* out, const real* a, int64_t n, const StridedLoop& reduced, int64_t from, int64_t to) {
  for (int64_t j = 0; j < n; ++j) out[j] = 0;
  const Rows rows(reduced);
  Place p(rows.outer, from / rows.n);
  for (int64_t i = from % rows.n; from < to; p.next(), i = 0) {
    const int64_t run = at_most(to - from, rows.n - i);
    const real* x = a + p.a + i * rows.a;
    from += run;
    int64_t r = 0;
    for (; r + 4 <= run; r += 4, x += 4 * rows.a)
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) out[j] += (x[j] + x[j + rows.a]) + (x[j + 2 * rows.a] + x[j + 3 * rows.a]);
    for (; r < run; ++r, x += rows.a)
      for (int64_t j = 0; j < n; ++j) out[j] += x[j];
  }
}

// The innermost dimension stays, and rows are added. If columns are few and rows are many, rows are split too.
void sum_columns(Accumulator y, const real* a, const Rows& kept, const StridedLoop& reduced) {
  const int64_t column_blocks = pieces(kept.n, columns), places = kept.outer.count() * column_blocks,
                depth = reduced.count();
  const int64_t partial_sums = places < 16 ? pieces(depth, block) : 1, per_partial = partial_sums == 1 ? depth : block;
  real* partial = partial_sums == 1 ? nullptr : scratch(0, places * partial_sums * columns);
  const auto write_out = [&](int64_t place, const real* total) {
    const Place p(kept.outer, place / column_blocks);
    const int64_t from = place % column_blocks * columns, n = at_most(columns, kept.n - from);
    for (int64_t j = 0; j < n; ++j) write(y, p.y + (from + j) * kept.y, total[j]);
  };
  const int64_t together = at_least(1, grain / (per_partial * at_most(columns, kept.n)));
  parallel_ranges(places * partial_sums, together, [&](int64_t i, int64_t to) {
    for (; i < to; ++i) {
      const Place p(kept.outer, i / partial_sums / column_blocks);
      const int64_t from = i / partial_sums % column_blocks * columns, n = at_most(columns, kept.n - from);
      const int64_t begin = i % partial_sums * per_partial, end = at_most(depth, begin + per_partial);
      real total[columns], part[columns];
      for (int64_t r = begin; r < end; r += block) {
        sum_block(r == begin ? total : part, a + p.a + from, n, reduced, r, at_most(end, r + block));
        if (r != begin)
          for (int64_t j = 0; j < n; ++j) total[j] += part[j];
      }
      if (!partial) write_out(i, total);
      else __builtin_memcpy(partial + i * columns, total, size_t(n) * sizeof(real));
    }
  });
  if (!partial) return;
  for (int64_t place = 0; place < places; ++place) {
    real* total = partial + place * partial_sums * columns;
    for (int64_t s = 1; s < partial_sums; ++s)
      for (int64_t j = 0; j < at_most(columns, kept.n); ++j) total[j] += total[s * columns + j];
    write_out(place, total);
  }
}

// -- copies ----------------------------------------------------------------------------------------------------------

constexpr int64_t side = 32;   // side of a tile that is transposed within the first cache

// y_ij (+)= a_ij where a is contiguous along i and y along j. Tiles avoid a cache miss at every access.
void copy_transposed(Accumulator y, const real* a, const StridedLoop& rest, const Rows& i, const Rows& j) {
  const int64_t tiles = pieces(i.n, side);
  parallel_for(rest.count() * tiles, [&](int64_t piece) {
    const Place p(rest, piece / tiles);
    const int64_t i0 = piece % tiles * side, i1 = at_most(i.n, i0 + side);
    for (int64_t j0 = 0; j0 < j.n; j0 += side)
      for (int64_t ii = i0; ii < i1; ++ii)
        for (int64_t jj = j0; jj < at_most(j.n, j0 + side); ++jj)
          write(y, p.y + ii * i.y + jj * j.y, a[p.a + ii * i.a + jj * j.a]);
  });
}

}  // namespace

void add(real* y, const real* a, const real* b, const StridedLoop& loop) {
  binary(y, a, b, loop, [](real p, real q) { return p + q; });
}
void sub(real* y, const real* a, const real* b, const StridedLoop& loop) {
  binary(y, a, b, loop, [](real p, real q) { return p - q; });
}
void mul(real* y, const real* a, const real* b, const StridedLoop& loop) {
  binary(y, a, b, loop, [](real p, real q) { return p * q; });
}
void div(real* y, const real* a, const real* b, const StridedLoop& loop) {
  binary(y, a, b, loop, [](real p, real q) { return p / q; });
}
void greater_equal(real* y, const real* a, const real* b, const StridedLoop& loop) {
  binary(y, a, b, loop, [](real p, real q) { return real(p >= q || p != p); });
}
void minimum(real* y, const real* a, const real* b, const StridedLoop& loop) {
  binary(y, a, b, loop, [](real p, real q) { return p <= q || p != p ? p : q; });
}
void maximum(real* y, const real* a, const real* b, const StridedLoop& loop) {
  binary(y, a, b, loop, [](real p, real q) { return p >= q || p != p ? p : q; });
}
void keep(real* y, const real* a, const real* b, const StridedLoop& loop) {
  binary(y, a, b, loop, [](real p, real q) { return q != 0 ? p : real(0); });
}
void pow(real* y, const real* a, const real* b, const StridedLoop& loop) {
  binary(y, a, b, loop, [](real p, real q) { return std::pow(p, q); });
}

// Every element of y is written once, so the order is free: y is written front to back.
void copy(Accumulator y, const real* a, const StridedLoop& loop) {
  if (!y) return;
  StridedLoop sorted;
  bool taken[StridedLoop::max_dims] = {};
  for (int n = 0; n < loop.dims; ++n) {
    int next = -1;
    for (int d = 0; d < loop.dims; ++d)
      if (!taken[d] && (next < 0 || loop.y[d] > loop.y[next])) next = d;
    taken[next] = true;
    append(sorted, loop, next);
  }
  const Rows rows(sorted);
  if (rows.a > 1)
    for (int d = 0; d + 1 < sorted.dims; ++d)
      if (sorted.a[d] == 1) {
        StridedLoop rest, i, j;
        for (int e = 0; e < sorted.dims; ++e) append(e == d ? i : e == sorted.dims - 1 ? j : rest, sorted, e);
        return copy_transposed(y, a, rest, Rows(i), Rows(j));
      }
  for_rows(rows, [&](int64_t y_at, int64_t a_at, int64_t, int64_t n) {
    real* to = y.at + y_at;
    const real* from = a + a_at;
    if (rows.y != 1 || rows.a > 1)
      for (int64_t j = 0; j < n; ++j) write(y, y_at + j * rows.y, from[j * rows.a]);
    else if (rows.a == 1 && y.empty)
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) to[j] = from[j];
    else if (rows.a == 1)
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) to[j] += from[j];
    else
      for (int64_t j = 0; j < n; ++j) write(y, y_at + j, *from);
  });
}

void sum(Accumulator y, const real* a, const StridedLoop& loop) {
  if (!y) return;
  StridedLoop kept, reduced;
  for (int d = 0; d < loop.dims; ++d) append(loop.y[d] ? kept : reduced, loop, d);
  if (reduced.dims == 0) copy(y, a, loop);
  else if (loop.y[loop.dims - 1] == 0) sum_rows(y, a, kept, Rows(reduced));
  else sum_columns(y, a, Rows(kept), reduced);
}

}  // namespace poslab::POSLAB_ISA
