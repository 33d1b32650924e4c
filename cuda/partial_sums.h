// Products with very long sums: x^T dy of a weight matrix has a few tiles of results, each a sum over thousands of
// rows. So the rows are split (split-K), each split gives partial sums of its own, and these are added up
// in order (cuda/sums.h).
#pragma once
#include "cuda/product.h"
#include "cuda/sums.h"

namespace poslab::cuda {

// How sums over k terms, for `tiles` tiles of results, are split: they fill the GPU, and no split is shorter than 64.
// This depends only on the sizes.
struct Splits {
  int length, count;
  static Splits of(int64_t k, int64_t tiles) {
    const int64_t wanted = tiles < enough_blocks ? enough_blocks / tiles : 1, even = (k + wanted - 1) / wanted;
    const int length = int(even < 64 ? 64 : (even + 31) / 32 * 32);
    return {length, int((k + length - 1) / length)};
  }
  Factor operator()(Factor f) const {
    f.step = f.is_along ? length : int64_t(length) * f.line;
    return f;
  }
};
inline int64_t in_fours(int64_t n) { return (n + 3) / 4 * 4; }

// dw += x^T dy   db += sum of rows of dy                                  x: (rows, in)   dy: (rows, out)
struct Weights {
  Accumulator dw, db;
  const real *x = nullptr, *dy = nullptr;
  int in = 0, out = 0;
  int64_t beside = 0;              // tiles of other sums in the same launch, which help to fill the GPU
};
inline void multiply(int64_t rows, const Weights& w) {
  if (!w.dw && !w.db) return;
  if (w.dw && multiplies_by_library()) {
    multiply(one_product(across(w.x, w.in), across(w.dy, w.out), w.dw.at, w.in, w.out, int(rows),
                         {.add_to_c = !w.dw.empty}));
    return multiply(rows, {.db = w.db, .dy = w.dy, .in = w.in, .out = w.out, .beside = w.beside});
  }
  const Splits splits = Splits::of(rows, tiles(w.in, w.out) + w.beside);
  const int64_t n = w.dw ? int64_t(w.in) * w.out : 0, pitch = in_fours(n) + (w.db ? in_fours(w.out) : 0);
  real* const partial = room_for_sums(splits.count * pitch);
  real* const of_b = partial + in_fours(n);
  multiply({.term = {{splits(across(w.x, w.in)), splits(across(w.dy, w.out)), splits.length}},
            .c = partial,
            .m = w.dw ? w.in : 0,                            // 0 rows: no dw, only the sums of dy's columns
            .n = w.out,
            .parts = splits.count,
            .k_total = rows,
            .c_step = pitch,
            .b_sums = w.db ? of_b : nullptr});
  add_up_later({w.dw, partial, n, pitch, splits.count});
  add_up_later({w.db, of_b, w.out, pitch, splits.count});
}

}  // namespace poslab::cuda
