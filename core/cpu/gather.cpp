// Looks up rows of a table by number. In the backward pass several rows may add to one entry of the table.
#include "core/kernels.h"
#include "core/platform/parallel.h"

namespace poslab::POSLAB_ISA {

void gather(real* y, const real* table, const int* at, int64_t rows, int n) {
  constexpr int64_t grain = 8192;
  parallel_ranges(rows, n < grain ? grain / n : 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const real* entry = table + int64_t(at[i]) * n;
      for (int j = 0; j < n; ++j) y[i * n + j] = entry[j];
    }
  });
}

// Each piece owns some columns of the whole table, two cache lines wide, and goes through all rows in order: no two
// threads write to the same place, and the order of the sum is fixed.
void gather_backward(Accumulator dtable, const real* dy, const int* at, int64_t rows, int n, int entries) {
  if (!dtable) return;
  parallel_ranges(n, 128 / int64_t(sizeof(real)), [&](int64_t from, int64_t to) {
    if (dtable.empty)
      for (int64_t e = 0; e < entries; ++e)
        for (int64_t j = from; j < to; ++j) dtable.at[e * n + j] = 0;
    for (int64_t i = 0; i < rows; ++i) {
      real* entry = dtable.at + int64_t(at[i]) * n;
#pragma GCC ivdep
      for (int64_t j = from; j < to; ++j) entry[j] += dy[i * n + j];
    }
  });
}

}  // namespace poslab::POSLAB_ISA
