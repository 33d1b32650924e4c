// Rows of a table read between their entries, and the way back. Rows are short and stay in the first cache.
#include "core/kernels.h"
#include "core/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

// Where place p of a row of last + 1 entries lies: between two of them, by the share of the upper one.
struct Place {
  int below, above;
  real share;
  bool slopes;                                           // else y is constant around p
  Place(real p, int last) {
    const real least = 0, most = real(last), in = p > least ? (p < most ? p : most) : least;   // of NaN 0
    below = int(in), below -= below == last && last > 0, above = below + (last > 0);
    share = (p != p ? p : in) - real(below);
    slopes = !(p < least) && !(p > most);
  }
};

template <class F>
void for_rows(int64_t rows, int n, const F& f) {
  constexpr int64_t grain = 8192;
  parallel_ranges(rows, n < grain ? grain / n : 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) f(i);
  });
}

}  // namespace

void interpolate(real* y, const real* t, const real* p, int64_t rows, int entries, int n) {
  for_rows(rows, n, [=](int64_t i) {
    const real* row = t + i * entries;
#pragma GCC ivdep
    for (int j = 0; j < n; ++j) {
      const Place at(p[i * n + j], entries - 1);
      y[i * n + j] = (1 - at.share) * row[at.below] + at.share * row[at.above];
    }
  });
}

void interpolate_backward(Accumulator dt, Accumulator dp, const real* dy, const real* t, const real* p, int64_t rows,
                          int entries, int n) {
  if (dp)
    for_rows(rows, n, [=](int64_t i) {
      const real* row = t + i * entries;
#pragma GCC ivdep
      for (int j = 0; j < n; ++j) {
        const Place at(p[i * n + j], entries - 1);
        const real d = at.slopes ? (row[at.above] - row[at.below]) * dy[i * n + j] : 0;
        dp.at[i * n + j] = dp.empty ? d : dp.at[i * n + j] + d;
      }
    });
  if (dt)
    for_rows(rows, n, [=](int64_t i) {
      real* row = dt.at + i * entries;
      for (int e = 0; dt.empty && e < entries; ++e) row[e] = 0;
      for (int j = 0; j < n; ++j) {
        const Place at(p[i * n + j], entries - 1);
        const real upper = at.share * dy[i * n + j];
        row[at.below] += dy[i * n + j] - upper;
        row[at.above] += upper;
      }
    });
}

}  // namespace poslab::POSLAB_ISA
