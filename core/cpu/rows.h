// Sums over one row of n reals, in vectors, always in the same order.
#pragma once
#include "core/cpu/simd.h"

namespace poslab::POSLAB_ISA {

// Calls work(n); for the usual width of a model, n is a compile-time constant, so that loops over a row are unrolled.
template <class Work>
inline void with_width(int n, const Work& work) {
  n == 64 ? work(std::integral_constant<int, 64>()) : work(n);
}

// Calls f(index, number of lanes in use) for each vector of the row.
template <class F>
[[gnu::always_inline]] inline void for_vectors(int n, const F& f) {
  int j = 0;
#pragma GCC unroll 4
  for (; j + lanes <= n; j += lanes) f(j, lanes);
  if (j < n) f(j, n - j);
}
// Load or store the first `count` lanes, which may be all; the other lanes are loaded as 0 or `rest`, and not stored.
[[gnu::always_inline]] inline Vec load_some(const real* p, int count) {
  return count == lanes ? load(p) : load_first(p, count);
}
[[gnu::always_inline]] inline Vec load_or(const real* p, int count, real rest) {
  return count == lanes ? load(p) : first_lanes(count) ? load_first(p, count) : splat(rest);
}
[[gnu::always_inline]] inline void store_some(real* p, Vec v, int count) {
  count == lanes ? store(p, v) : store_first(p, v, count);
}

// to_j = v(j, count), or to_j += v(j, count) if add, for j < n. Only the first `count` lanes of each vector are used.
template <class F>
[[gnu::always_inline]] inline void write_row(real* to, bool add, int n, const F& v) {
  for_vectors(n, [&](int j, int count) {
    const Vec value = v(j, count);
    store_some(to + j, add ? load_some(to + j, count) + value : value, count);
  });
}

[[gnu::always_inline]] inline real sum_row(const real* x, int n) {
  Vec s{};
  for_vectors(n, [&](int j, int count) { s += load_some(x + j, count); });
  return sum_lanes(s);
}
[[gnu::always_inline]] inline real max_row(const real* x, int n) {
  Vec top = splat(x[0]);
  for_vectors(n, [&](int j, int count) { top = max(load_or(x + j, count, x[0]), top); });
  return max_lanes(top);
}
// y_j = e_j / z, e_j = exp(x_j - top), z = sum_j e_j; returns z. The last vector waits in a register: a load that
// follows a masked store would wait until the store has reached the cache.
[[gnu::always_inline]] inline real softmax_row(real* y, const real* x, real top, int n) {
  Vec sum{}, last{};
  for_vectors(n, [&](int j, int count) {
    last = exp_unclamped(load_or(x + j, count, neg_infinity) - top);
    sum += last;
    if (count == lanes) store(y + j, last);
  });
  const real z = sum_lanes(sum), scale = 1 / z;
  for_vectors(n, [&](int j, int count) { store_some(y + j, (count == lanes ? load(y + j) : last) * scale, count); });
  return z;
}
[[gnu::always_inline]] inline real dot_row(const real* x, const real* y, int n) {
  Vec s{};
  for_vectors(n, [&](int j, int count) { s += load_some(x + j, count) * load_some(y + j, count); });
  return sum_lanes(s);
}

}  // namespace poslab::POSLAB_ISA
