// The end of a transformer's sub-layer in one pass: y = norm(s), s = x + dropout(z). The dropout factors are drawn
// again in the backward pass (Philox), s is kept, and nothing else.
#include "core/cpu/norm.h"
#include "core/cpu/philox.h"

namespace poslab::POSLAB_ISA {
void residual_norm(real* y, real* s, const real* x, const real* z, const real* gain, const real* bias, int64_t rows,
                   int width, Dropout drop) {
  with_width(width, [&](auto n) {
    parallel_ranges(rows, norm_row_block, [&](int64_t from, int64_t to) {
      const real* f = dropout_factors(from, to, n, drop);
      for (int64_t i = from; i < to; ++i) {
        const real* fi = f ? f + (i - from) * n : nullptr;
        write_row(s + i * n, false, n, [&](int j, int count) {
          const Vec zj = load_some(z + i * n + j, count);
          return load_some(x + i * n + j, count) + (fi ? zj * load_some(fi + j, count) : zj);
        });
        if (n % lanes == 0) norm_row(y + i * n, s + i * n, gain, bias, n);
      }
      if (n % lanes == 0) return;
      for (int64_t i = from; i < to; ++i)  // not at once: see softmax_row
        norm_row(y + i * n, s + i * n, gain, bias, n);
    });
  });
}

void residual_norm_backward(Accumulator dx, Accumulator dz, Accumulator dgain, Accumulator dbias, const real* dy,
                            const real* s, const real* gain, int64_t rows, int width, Dropout drop) {
  with_width(width, [&](auto n) {
    norm_backward_rows(dgain, dbias, rows, n, [&](int64_t from, int64_t to, real* sums) {
      real* d = scratch(1, n);
      const real* f = dz ? dropout_factors(from, to, n, drop) : nullptr;
      for (int64_t i = from; i < to; ++i) {
        norm_row_backward(d, sums, dy + i * n, s + i * n, gain, n);
        if (dx) write_row(dx.at + i * n, !dx.empty, n, [&](int j, int count) { return load_some(d + j, count); });
        if (!dz) continue;
        const real* fi = f ? f + (i - from) * n : nullptr;
        write_row(dz.at + i * n, !dz.empty, n, [&](int j, int count) {
          const Vec dj = load_some(d + j, count);
          return fi ? dj * load_some(fi + j, count) : dj;
        });
      }
    });
  });
}

}  // namespace poslab::POSLAB_ISA
