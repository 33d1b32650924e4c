// The weights of geometric attention, a row at a time. The formula is in core/more_kernels.def. Terms of one key are
// computed in vectors; sums over the keys before it take one pass outwards, and for the gradient one inwards.
#include "core/cpu/functions.h"
#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/platform/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

constexpr int64_t grain = 8192;
constexpr real infinity = std::numeric_limits<real>::infinity();

int64_t rows_per_piece(int n) { return n < grain ? grain / n : 1; }

// The query of one row: its slot, how many keys it sees on either side, and the order in which it visits them.
struct Query {
  const int t, left, right, both;
  Query(int64_t row, int queries, int keys, bool causal)
      : t(int(row % queries) + keys - queries), left(t), right(causal ? 0 : keys - 1 - t),
        both(left < right ? left : right) {}
  int seen() const { return t + 1 + right; }   // keys, its own included

  template <class Step>
  void outwards(const Step& step) const {
    for (int r = 1; r <= both; ++r) step(t + r), step(t - r);
    for (int r = both + 1; r <= right; ++r) step(t + r);
    for (int r = both + 1; r <= left; ++r) step(t - r);
  }
  template <class Step>
  void inwards(const Step& step) const {
    for (int r = left; r > both; --r) step(t - r);
    for (int r = right; r > both; --r) step(t + r);
    for (int r = both; r > 0; --r) step(t - r), step(t + r);
  }
  Vec logit(const real* z, const real* side, int j, int count) const {
    return load_some(z + j, count) + (first_lanes(t - j) ? splat(side[1]) : splat(side[0]));
  }
};

void clear(real* y, int n) {
  for (int j = 0; j < n; ++j) y[j] = 0;
}

void weights(real* a, const real* z, const real* side, const Query& query, int keys) {
  const int n = query.seen();
  clear(a + n, keys - n);
  if (n == 1) return clear(a, n);
  real *u = a, *miss = scratch(0, n);             // ln sigmoid(x) = min(x, 0) - ln(1 + e^-|x|), miss = -ln sigmoid(-x)
  for_vectors(n, [&](int j, int count) {
    const Vec x = query.logit(z, side, j, count), rest = log_of_one_plus(exp_unclamped(-magnitude(x)));
    store_some(u + j, (x < 0 ? x : Vec{}) - rest, count);
    store_some(miss + j, (x > 0 ? x : Vec{}) + rest, count);
  });
  real missed = 0;
  query.outwards([&](int j) { u[j] -= missed, missed += miss[j]; });
  u[query.t] = -infinity;
  softmax_row(a, u, max_row(u, n), n);
}

// Writes dx; returns its sums over the keys on either side
struct Sides { real right, left; };
Sides gradient(real* dx, const real* da, const real* a, const real* z, const real* side, const Query& query, int keys) {
  const int n = query.seen();
  const real mean = dot_row(da, a, n);
  real* from_here = scratch(0, n);                // du_ij + sum of du_ik over the keys k after j
  const auto du = [&](int j, int count) { return load_some(a + j, count) * (load_some(da + j, count) - mean); };
  write_row(from_here, false, n, du);
  real sum = 0;
  query.inwards([&](int j) { from_here[j] = sum += from_here[j]; });
  write_row(dx, false, n, [&](int j, int count) {
    return du(j, count) - sigmoid(query.logit(z, side, j, count)) * load_some(from_here + j, count);
  });
  dx[query.t] = 0;
  clear(dx + n, keys - n);
  return {sum_row(dx + query.t + 1, query.right), sum_row(dx, query.left)};
}

}  // namespace

void geometric(real* a, const real* z, const real* side, int64_t rows, int queries, int keys, bool causal) {
  parallel_ranges(rows, rows_per_piece(keys), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      weights(a + i * keys, z + i * keys, side + 2 * i, Query(i, queries, keys, causal), keys);
  });
}

void geometric_backward(Accumulator dz, Accumulator dside, const real* da, const real* a, const real* z,
                        const real* side, int64_t rows, int queries, int keys, bool causal) {
  parallel_ranges(rows, rows_per_piece(keys), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const int64_t e = i * keys;
      real* dx = dz && dz.empty ? dz.at + e : scratch(1, keys);
      const Query query(i, queries, keys, causal);
      const auto [right, left] = gradient(dx, da + e, a + e, z + e, side + 2 * i, query, keys);
      if (dz && !dz.empty) write_row(dz.at + e, true, keys, [&](int j, int count) { return load_some(dx + j, count); });
      if (!dside) continue;
      dside.at[2 * i] = right + (dside.empty ? 0 : dside.at[2 * i]);
      dside.at[2 * i + 1] = left + (dside.empty ? 0 : dside.at[2 * i + 1]);
    }
  });
}

}  // namespace poslab::POSLAB_ISA
