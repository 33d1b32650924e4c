// LayerNorm over rows; the formulas stand in core/cpu/norm.h.
#include "core/cpu/norm.h"

namespace poslab::POSLAB_ISA {

void norm(real* y, const real* x, const real* gain, const real* bias, int64_t rows, int width) {
  with_width(width, [&](auto n) {
    parallel_ranges(rows, norm_row_block, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) norm_row(y + i * n, x + i * n, gain, bias, n);
    });
  });
}

void norm_backward(Accumulator dx, Accumulator dgain, Accumulator dbias, const real* dy, const real* x,
                   const real* gain, int64_t rows, int width) {
  with_width(width, [&](auto n) {
    norm_backward_rows(dgain, dbias, rows, n, [&](int64_t from, int64_t to, real* sums) {
      real* d = scratch(1, n);
      for (int64_t i = from; i < to; ++i) {
        norm_row_backward(d, sums, dy + i * n, x + i * n, gain, n);
        if (dx) write_row(dx.at + i * n, !dx.empty, n, [&](int j, int count) { return load_some(d + j, count); });
      }
    });
  });
}

}  // namespace poslab::POSLAB_ISA
