// y_ij = exp(x_ij - m_i) / sum_k exp(x_ik - m_i), m_i = max_k x_ik, so that nothing overflows: softmax_row of rows.h.
#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/platform/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

constexpr int64_t grain = 8192;

int64_t rows_per_piece(int n) { return n < grain ? grain / n : 1; }

}  // namespace

void softmax(real* y, const real* x, int64_t rows, int n) {
  parallel_ranges(rows, rows_per_piece(n), [&](int64_t from, int64_t to) {
    for (int64_t e = from * n; e < to * n; e += n) softmax_row(y + e, x + e, max_row(x + e, n), n);
  });
}

void softmax_backward(Accumulator dx, const real* dy, const real* y, int64_t rows, int n) {
  if (!dx) return;
  parallel_ranges(rows, rows_per_piece(n), [&](int64_t from, int64_t to) {
    for (int64_t e = from * n; e < to * n; e += n) {
      const real mean = dot_row(dy + e, y + e, n);
      write_row(dx.at + e, !dx.empty, n, [&](int j, int count) {
        return load_some(y + e + j, count) * (load_some(dy + e + j, count) - mean);
      });
    }
  });
}

}  // namespace poslab::POSLAB_ISA
