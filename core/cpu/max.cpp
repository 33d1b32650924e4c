// The largest number of each row and where it stands. A row with a NaN has the maximum NaN, at the first one.
#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

constexpr int64_t grain = 16384;

int64_t rows_per_piece(int n) { return n < grain ? grain / n : 1; }

}  // namespace

void max(real* y, int* at, const real* x, int64_t rows, int n) {
  parallel_ranges(rows, rows_per_piece(n), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const real* row = x + i * n;
      Vec top = splat(row[0]);
      auto nan = top != top;
      int j = 0;
      for (; j + lanes <= n; j += lanes) {
        const Vec v = load(row + j);
        top = max(v, top), nan |= v != v;
      }
      real most = max_lanes(top);
      bool unordered = false;
      for (int k = 0; k < lanes; ++k) unordered |= nan[k] != 0;
      for (; j < n; ++j) most = row[j] > most ? row[j] : most, unordered |= row[j] != row[j];
      int first = 0;
      while (unordered ? row[first] == row[first] : row[first] != most) ++first;
      y[i] = row[first], at[i] = first;
    }
  });
}

void max_backward(Accumulator dx, const real* dy, const int* at, int64_t rows, int n) {
  if (!dx) return;
  parallel_ranges(rows, rows_per_piece(n), [&](int64_t from, int64_t to) {
    if (dx.empty)
      for (int64_t e = from * n; e < to * n; ++e) dx.at[e] = 0;
    for (int64_t i = from; i < to; ++i) dx.at[i * n + at[i]] += dy[i];
  });
}

}  // namespace poslab::POSLAB_ISA
