// The largest number of each row, and its column. If a row has NaNs, its maximum is the first of them.
#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/platform/parallel.h"

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
      LaneMask first{}, nan{};  // first: for each lane, the j of the first vector with its `top`
      for_vectors(n, [&](int j, int count) {
        const Vec v = load_or(row + j, count, row[0]);
        const LaneMask larger = v > top;
        top = max(v, top), first = larger ? LaneMask{} + j : first, nan |= v != v;
      });
      const LaneMask column = top == max_lanes(top) ? first + lane_numbers() : LaneMask{} + n;
      at[i] = int(fold_lanes<lanes>(column, [](auto a, auto b) { return a < b ? a : b; }));
      if (any(nan))
        for (at[i] = 0; row[at[i]] == row[at[i]];) ++at[i];
      y[i] = row[at[i]];
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
