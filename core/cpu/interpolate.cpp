// Linear interpolation in the rows of a table, forward and backward. Rows are short and stay in the first cache, or in
// registers.
#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/platform/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

// For places p in a row of last + 1 entries: the entry below each, and the weight of the entry above it.
struct Places {
  LaneMask below;
  Vec share;
  LaneMask slopes;  // whether p is inside the table; outside it y is constant
  Places(Vec p, int last) {
    const Vec least{}, most = splat(real(last)), in = p > least ? (p < most ? p : most) : least;  // NaN gives 0
    below = __builtin_convertvector(in, LaneMask);
    if (last > 0) below += below == last;  // true is -1
    share = (p != p ? p : in) - __builtin_convertvector(below, Vec);
    slopes = ~(p < least) & ~(p > most);
  }
};

// Looks up entries of a row by number.
struct InMemory {
  const real* row;
  InMemory(const real* r, int) : row(r) {}
  Vec operator[](LaneMask at) const {
    Vec y;
    for (int i = 0; i < lanes; ++i) y[i] = row[at[i]];
    return y;
  }
};
#if defined __AVX512F__ && !defined POSLAB_DOUBLE
struct InRegisters {  // one instruction finds 16 of up to 32 entries
  static constexpr int most = 2 * lanes;
  Vec low, high;
  InRegisters(const real* r, int entries)
      : low(load_some(r, entries < lanes ? entries : lanes)),
        high(entries > lanes ? load_some(r + lanes, entries - lanes) : Vec{}) {}
  Vec operator[](LaneMask at) const { return _mm512_permutex2var_ps(low, (__m512i)at, high); }
};
#else
struct InRegisters : InMemory {
  static constexpr int most = 0;
  using InMemory::InMemory;
};
#endif

// Calls f(i, row i) for all rows of a table, each with n places.
template <class Row, class F>
void for_rows(const real* t, int64_t rows, int entries, int n, const F& f) {
  constexpr int64_t grain = 8192;
  parallel_ranges(rows, n < grain ? grain / n : 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) f(i, Row(t + i * entries, entries));
  });
}
template <class F>
void for_rows(const real* t, int64_t rows, int entries, int n, const F& f) {
  entries <= InRegisters::most ? for_rows<InRegisters>(t, rows, entries, n, f)
                               : for_rows<InMemory>(t, rows, entries, n, f);
}

// The number of places up to the last one with a gradient. Under a causal mask half of the places have none. Adding
// their zeros to sums that begin at 0 would change no bit, unless a place is NaN.
int places_with_grad(const real* dy, const real* p, int n) {
  while (n > 0 && dy[n - 1] == 0 && p[n - 1] == p[n - 1]) --n;
  return n;
}

}  // namespace

void interpolate(real* y, const real* t, const real* p, int64_t rows, int entries, int n) {
  const int step = entries > 1;
  for_rows(t, rows, entries, n, [=](int64_t i, const auto& row) {
    write_row(y + i * n, false, n, [&](int j, int count) {
      const Places at(load_some(p + i * n + j, count), entries - 1);
      return (real(1) - at.share) * row[at.below] + at.share * row[at.below + step];
    });
  });
}

void interpolate_backward(Accumulator dt, Accumulator dp, const real* dy, const real* t, const real* p, int64_t rows,
                          int entries, int n) {
  const int step = entries > 1;
  if (dp)
    for_rows(t, rows, entries, n, [=](int64_t i, const auto& row) {
      real* to = dp.at + i * n;
      for_vectors(n, [&](int j, int count) {
        const Places at(load_some(p + i * n + j, count), entries - 1);
        const Vec slope = row[at.below + step] - row[at.below], d = load_some(dy + i * n + j, count);
        const Vec was = dp.empty ? Vec{} : load_some(to + j, count);
        const Vec now = dp.empty ? slope * d : was + slope * d;
        store_some(to + j, at.slopes ? now : was, count);
      });
    });
  if (dt)
    for_rows<InMemory>(dt.at, rows, entries, n, [=](int64_t i, const InMemory&) {
      real* row = dt.at + i * entries;
      for (int e = 0; dt.empty && e < entries; ++e) row[e] = 0;
      const int used = dt.empty ? places_with_grad(dy + i * n, p + i * n, n) : n;
      for_vectors(used, [&](int j, int count) {
        const Places at(load_some(p + i * n + j, count), entries - 1);
        const Vec d = load_some(dy + i * n + j, count);
        const LaneMask below = at.below;
        real lower[lanes], share[lanes];
        store(lower, d - at.share * d), store(share, at.share);
        for (int k = 0; k < count; ++k) {
          real* entry = row + below[k];
          entry[0] += lower[k];
          entry[step] += share[k] * dy[i * n + j + k];
        }
      });
    });
}

}  // namespace poslab::POSLAB_ISA
