// The start of a pre-norm sub-layer in one pass: s = x + dropout(z) and y = rms_norm(s). The dropout factors are drawn
// again in the backward pass (Philox), s is kept, and nothing else.
#include "core/cpu/philox.h"
#include "core/cpu/rms_norm.h"

namespace poslab::POSLAB_ISA {

void residual_rms_norm(real* s, real* y, const real* x, const real* z, const real* gain, int64_t rows, int width,
                       real epsilon, Dropout drop) {
  with_width(width, [&](auto n) {
    parallel_ranges(rows, norm_row_block, [&](int64_t from, int64_t to) {
      const real* f = dropout_factors(from, to, n, drop);
      for (int64_t i = from; i < to; ++i) {
        const real* fi = f ? f + (i - from) * n : nullptr;
        write_row(s + i * n, false, n, [&](int j, int count) {
          const Vec zj = load_some(z + i * n + j, count);
          return load_some(x + i * n + j, count) + (fi ? zj * load_some(fi + j, count) : zj);
        });
      }
      for (int64_t i = from; i < to; ++i) rms_norm_row(y + i * n, s + i * n, gain, n, epsilon);
    });
  });
}

void residual_rms_norm_backward(Accumulator dx, Accumulator dz, Accumulator dgain, const real* ds, const real* dy,
                                const real* s, const real* gain, int64_t rows, int width, real epsilon, Dropout drop) {
  with_width(width, [&](auto n) {
    norm_backward_rows(dgain, {}, rows, n, [&](int64_t from, int64_t to, real* sums) {
      real* own = scratch(1, n);
      const real* f = dz ? dropout_factors(from, to, n, drop) : nullptr;
      for (int64_t i = from; i < to; ++i) {
        const real* d = ds ? ds + i * n : nullptr;
        if (dy) rms_norm_row_backward(own, sums, d, dy + i * n, s + i * n, gain, n, epsilon), d = own;
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
