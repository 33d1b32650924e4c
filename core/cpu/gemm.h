// c += a b where b fits the cache: the one product that linear layers, matmul and attention are made of.
//
// A tile of c, M rows by N vectors, stays in registers while the inner index runs; each step loads N vectors of b and
// broadcasts M numbers of a. Nothing is packed: b's rows are contiguous already, and a, which is read one number at a
// time, may be stored by rows or by columns. For a width of 64 this runs at the processor's FMA rate.
#pragma once
#include <cstddef>

#include "core/cpu/simd.h"

namespace poslab::POSLAB_ISA {

struct Left {                        // the factor a: a_ip = at[i row + p column]
  const real* at;
  ptrdiff_t row, column;
};

// Factors: how they are loaded and multiplied. Reals here, pairs of rounded numbers in bf16/pairs.h.
struct Reals {
  struct Sums {};                 // a scope guard that lives while a tile is summed
  static constexpr int rows = 1;  // rows of b that one step reads
  template <int W>
  static VecOf<W> left(const real* a) {
    return splat<W>(*a);
  }
  template <int W>
  static VecOf<W> right(const real* b, ptrdiff_t) {
    return load<W>(b);
  }
  template <int W>
  static VecOf<W> add_product(VecOf<W> sum, VecOf<W> a, VecOf<W> b) {
    return multiply_add(a, b, sum);
  }
};

// Epilogues: finish() turns the sums of row i, columns j .. j + W - 1, into the values to store at c.
struct Into {                        // c = sum, or c += sum if add
  bool add;
  template <int W>
  VecOf<W> finish(const real* c, VecOf<W> sum, int, int) const { return add ? load<W>(c) + sum : sum; }
};
struct WithBias {                    // max(sum + bias, min): a linear layer; min is 0 for a ReLU, else -infinity
  const real* bias;
  real min;
  template <int W>
  VecOf<W> finish(const real*, VecOf<W> sum, int, int j) const {
    const VecOf<W> y = load<W>(bias + j) + sum;
    return y < min ? splat<W>(min) : y;
  }
};
struct WherePositive {               // the sum where x_ij > 0, else 0: the gradient through x = ReLU(...)
  const real* x;
  ptrdiff_t row;
  template <int W>
  VecOf<W> finish(const real*, VecOf<W> sum, int i, int j) const {
    return load<W>(x + i * row + j) > real(0) ? sum : VecOf<W>{};
  }
};

// The tile of c that begins at c, which is row i0 and column j0 for the epilogue.
template <class Factors, int W, int M, int N, class Finish>
inline void tile(int k, Left a, const real* b, ptrdiff_t b_row, real* c, ptrdiff_t c_row, Finish finish, int i0,
                 int j0) {
  VecOf<W> sum[M][N] = {};
  const real* ap = a.at;
  if (k >= 64)  // long enough to prefetch c from memory during the sums
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) __builtin_prefetch(c + i * c_row + j * W, 1);
  {
    [[maybe_unused]] const typename Factors::Sums sums;
    for (int p = 0; p < k; ++p, ap += a.column, b += Factors::rows * b_row) {
      decltype(Factors::template right<W>(b, b_row)) bj[N];
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) bj[j] = Factors::template right<W>(b + j * W, b_row);
#pragma GCC unroll 8
      for (int i = 0; i < M; ++i) {
        const auto ai = Factors::template left<W>(ap + i * a.row);
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) sum[i][j] = Factors::template add_product<W>(sum[i][j], ai, bj[j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < M; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) {
      real* at = c + i * c_row + j * W;
      store<W>(at, finish.template finish<W>(at, sum[i][j], i0 + i, j0 + j * W));
    }
}

// N vectors of columns of c, all m rows: as many rows at a time as the registers hold.   j: the first column
template <class Factors, int W, int N, class Finish>
inline void column_block(int m, int k, Left a, const real* b, ptrdiff_t b_row, real* c, ptrdiff_t c_row, Finish finish,
                         int j) {
  constexpr int max_rows = registers == 12 ? 4 : N == 4 || (N == 2 && registers == 16) ? 6 : 8;
  int i = 0;
  const auto rows = [&]<int M>() {
    for (; i + M <= m; i += M)
      tile<Factors, W, M, N>(k, {a.at + i * a.row, a.row, a.column}, b, b_row, c + i * c_row, c_row, finish, i, j);
  };
  rows.template operator()<max_rows>();
  rows.template operator()<4>();
  rows.template operator()<2>();
  rows.template operator()<1>();
}

// c = finish(a b), an epilogue. b_row, c_row: reals from row to row     a: (m, k)   b: (k, n)   c: (m, n)
template <class Factors = Reals, class Finish>
inline void gemm(int m, int n, int k, Left a, const real* b, ptrdiff_t b_row, real* c, ptrdiff_t c_row, Finish finish) {
  int j = 0;
  const auto columns = [&]<int W, int N>() {
    if constexpr (W > 0)  // doubles in 16 bytes: lanes / 4 is 0, and templates compile even where they do not run
      for (; j + W * N <= n; j += W * N) column_block<Factors, W, N>(m, k, a, b + j, b_row, c + j, c_row, finish, j);
  };
  if constexpr (registers == 32) columns.template operator()<lanes, 4>();
  if constexpr (registers == 32) columns.template operator()<lanes, 3>();
  columns.template operator()<lanes, 2>();
  columns.template operator()<lanes, 1>();
  columns.template operator()<(lanes >= 4 ? lanes / 2 : 1), 1>();
  columns.template operator()<(lanes >= 8 ? lanes / 4 : 1), 1>();
  columns.template operator()<1, 1>();
}

// c = a b, or c += a b if add
inline void gemm(int m, int n, int k, Left a, const real* b, ptrdiff_t b_row, real* c, ptrdiff_t c_row, bool add) {
  gemm(m, n, k, a, b, b_row, c, c_row, Into{add});
}

}  // namespace poslab::POSLAB_ISA
