// The linear layer, forward and backward. A weight matrix of the models here fits the first or second cache, so rows are
// worked off in strips that stay in cache from the first operation to the last.
#include "core/cpu/gemm.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

constexpr int strip = 64;    // rows at a time
constexpr int slices = 16;   // partial sums of dw: a fixed number, so that results do not depend on the threads

int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

}  // namespace

// y = act(x w + b)
void linear(real* y, const real* x, const real* w, const real* b, int64_t rows, int in, int out, bool relu) {
  parallel_ranges(rows, strip, [&](int64_t from, int64_t to) {
    real* ys = y + from * out;
    if (b)
      for (int64_t i = from; i < to; ++i) __builtin_memcpy(y + i * out, b, size_t(out) * sizeof(real));
    gemm(int(to - from), out, in, {x + from * in, in, 1}, w, out, ys, out, b != nullptr);
    if (relu)
      for (int64_t e = 0; e < (to - from) * out; ++e) ys[e] = ys[e] < 0 ? 0 : ys[e];
  });
}

// dh = dy [y > 0]   dx += dh w^T   dw += x^T dh   db += sum of rows of dh
void linear_backward(Sum dx, Sum dw, Sum db, const real* dy, const real* x, const real* w, const real* y, int64_t rows,
                     int in, int out) {
  const int64_t weights = int64_t(in) * out, part = weights + out;
  const int64_t parts = rows <= strip ? 1 : at_most(slices, (rows + strip - 1) / strip);
  const int64_t per_part = ((rows + parts - 1) / parts + strip - 1) / strip * strip;
  real* w_turned = nullptr;                                        // (out, in)
  if (dx) turn(in, out, w, out, w_turned = scratch(0, weights), in);
  real* partial = scratch(1, parts * part);
  parallel_for(parts, [&](int64_t p) {
    real *dws = partial + p * part, *dbs = dws + weights;
    for (int64_t e = 0; e < part; ++e) dws[e] = 0;
    for (int64_t from = p * per_part; from < at_most(rows, (p + 1) * per_part); from += strip) {
      const int64_t to = at_most(at_most(rows, (p + 1) * per_part), from + strip);
      const int m = int(to - from);
      const real* dh = dy + from * out;
      if (y) {
        real* masked = scratch(2, int64_t(strip) * out);
        for (int64_t e = 0; e < int64_t(m) * out; ++e) masked[e] = y[from * out + e] > 0 ? dh[e] : 0;
        dh = masked;
      }
      if (dx) gemm(m, in, out, {dh, out, 1}, w_turned, in, dx.at + from * in, in, !dx.empty);
      if (dw) gemm(in, out, m, {x + from * in, 1, in}, dh, out, dws, out, true);
      if (db)
        for (int i = 0; i < m; ++i)
          for (int j = 0; j < out; ++j) dbs[j] += dh[int64_t(i) * out + j];
    }
  });
  const auto add_parts = [&](Sum to, int64_t offset, int64_t n) {
    parallel_ranges(n, 4096, [&](int64_t from, int64_t until) {
      for (int64_t p = 0; p < parts; ++p)
        for (int64_t e = from; e < until; ++e) {
          const real value = partial[p * part + offset + e];
          to.at[e] = p == 0 && to.empty ? value : to.at[e] + value;
        }
    });
  };
  if (dw) add_parts(dw, 0, weights);
  if (db) add_parts(db, weights, out);
}

}  // namespace poslab::POSLAB_ISA
