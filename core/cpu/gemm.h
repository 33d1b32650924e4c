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

// How factors are loaded and multiplied: as reals here, as pairs of rounded numbers in bf16/pairs.h.
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

// The values that a product stores: its sums, or, if a field is set, the formula next to that field. The choice is made
// at run time, so that each tile is compiled only once.
struct Finish {
  const real* bias = nullptr;        // max(sum + bias_j, min): a linear layer; min is 0 for a ReLU, else -infinity
  real min = neg_infinity;
  const real* positive = nullptr;    // the sum where positive_ij > 0, else 0: the gradient through ReLU(positive)
  ptrdiff_t row = 0;                 // of `positive`
  const real* factor = nullptr;      // factor_i c_ij + sum
  bool add = false;                  // c_ij + sum
};

// Stores the sums of the tile that begins at c, which is at row i0 and column j0 of the whole result.
template <int W, int M, int N>
[[gnu::always_inline]] inline void store_tile(const VecOf<W> (&sum)[M][N], real* c, ptrdiff_t c_row, Finish to, int i0,
                                              int j0) {
  typedef VecOf<W> V;
  const auto each = [&](const auto& value) __attribute__((always_inline)) {
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i, c += c_row)
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) store<W>(c + j * W, value(load<W>(c + j * W), sum[i][j], i0 + i, j0 + j * W));
  };
  if (to.add)
    each([&](V c, V sum, int, int) { return c + sum; });
  else if (to.bias)
    each([&](V, V sum, int, int j) {
      const V y = load<W>(to.bias + j) + sum;
      return y < to.min ? splat<W>(to.min) : y;
    });
  else if (to.positive)
    each([&](V, V sum, int i, int j) { return load<W>(to.positive + i * to.row + j) > real(0) ? sum : V{}; });
  else if (to.factor)
    each([&](V c, V sum, int i, int) { return to.factor[i] * c + sum; });
  else
    each([&](V, V sum, int, int) { return sum; });
}

// Computes the tile that begins at c.
template <class Factors, int W, int M, int N>
inline void tile(int k, Left a, const real* b, ptrdiff_t b_row, real* c, ptrdiff_t c_row, const Finish& finish, int i0,
                 int j0) {
  VecOf<W> sum[M][N] = {};
  const real* ap = a.at;
  if (k >= 64)  // long enough to prefetch c from memory during the sums
#pragma GCC unroll 1
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
  store_tile<W>(sum, c, c_row, finish, i0, j0);
}

// c = finish(a b).   b_row, c_row: reals from row to row     a: (m, k)   b: (k, n)   c: (m, n)
template <class Factors = Reals>
void gemm(int m, int n, int k, const Left& a, const real* b, ptrdiff_t b_row, real* c, ptrdiff_t c_row,
          const Finish& finish);

}  // namespace poslab::POSLAB_ISA
