// Transposes matrices, eight rows and columns at a time.
#pragma once
#include "core/cpu/simd.h"

namespace poslab::POSLAB_ISA {

// Turns W rows of W numbers into columns. Each round interleaves halves: a bit of the row index moves to the column.
template <int W, int... i>
inline void transpose_block(VecOf<W>* x, std::integer_sequence<int, i...>) {
  for (int round = 1; round < W; round *= 2) {
    VecOf<W> y[W];
#pragma GCC unroll 8
    for (int r = 0; r < W / 2; ++r) {
      y[2 * r] = __builtin_shufflevector(x[r], x[r + W / 2], (i / 2 + i % 2 * W)...);
      y[2 * r + 1] = __builtin_shufflevector(x[r], x[r + W / 2], (W / 2 + i / 2 + i % 2 * W)...);
    }
#pragma GCC unroll 8
    for (int r = 0; r < W; ++r) x[r] = y[r];
  }
}

// The factor 1: a product with it is the other factor, be that a number or a pair of numbers (pairs.h).
struct One {
  friend auto operator*(One, auto x) { return x; }
};

// to_ji = factor row(i)_j: rows from any addresses become columns.                 row(i): n reals, i < m   to: (n, m)
template <class Row, class Factor>
inline void transpose_rows(int m, int n, const Row& row, Factor factor, real* to, ptrdiff_t to_row) {
  constexpr int W = lanes < 8 ? lanes : 8;
  int i = 0;
  for (; i + W <= m; i += W) {
    int j = 0;
    for (; j + W <= n; j += W) {
      VecOf<W> x[W];
#pragma GCC unroll 8
      for (int r = 0; r < W; ++r) x[r] = load<W>(row(i + r) + j);
      transpose_block<W>(x, std::make_integer_sequence<int, W>());
#pragma GCC unroll 8
      for (int r = 0; r < W; ++r) store<W>(to + (j + r) * to_row + i, factor * x[r]);
    }
    for (; j < n; ++j)
      for (int r = i; r < i + W; ++r) to[j * to_row + r] = factor * row(r)[j];
  }
  for (; i < m; ++i)
    for (int j = 0; j < n; ++j) to[j * to_row + i] = factor * row(i)[j];
}

// to = from^T                                                            from: (m, n)   to: (n, m)
inline void transpose(int m, int n, const real* from, ptrdiff_t from_row, real* to, ptrdiff_t to_row) {
  transpose_rows(
      m, n, [=](int i) { return from + i * from_row; }, One(), to, to_row);
}

}  // namespace poslab::POSLAB_ISA
