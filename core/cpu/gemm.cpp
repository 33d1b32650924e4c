// The products of gemm.h, compiled once for all their callers.
#include "core/cpu/gemm.h"

#include "core/cpu/bf16/pairs.h"

namespace poslab::POSLAB_ISA {

// Computes N vectors of columns of c at a time, from column j on, in as many rows at once as the registers hold.
// Returns the first column that is left over.
template <class Factors, int W, int N>
[[gnu::noinline]] int blocks(int m, int n, int k, const Left& left, const real* b, ptrdiff_t b_row, real* c,
                             ptrdiff_t c_row, const Finish& given, int j) {
  const Left a = left;  // a copy, so that stores to c cannot change it
  const Finish finish = given;
  constexpr int max_rows = registers == 12 ? 4 : N == 4 || (N == 2 && registers == 16) ? 6 : Factors::rows == 2 ? 4 : 8;
  for (; j + W * N <= n; j += W * N) {
    int i = 0;
    const auto rows = [&]<int M>() {
      for (; i + M <= m; i += M)
        tile<Factors, W, M, N>(k, {a.at + i * a.row, a.row, a.column}, b + j, b_row, c + i * c_row + j, c_row, finish,
                               i, j);
    };
    rows.template operator()<max_rows>();
    rows.template operator()<4>();
    rows.template operator()<2>();
    rows.template operator()<1>();
  }
  return j;
}

template <class Factors>
void gemm(int m, int n, int k, const Left& a, const real* b, ptrdiff_t b_row, real* c, ptrdiff_t c_row,
          const Finish& finish) {
  int j = 0;
  const auto columns = [&]<int W, int N>() {
    if constexpr (W > 0)  // lanes / 4 is 0 for doubles in 16 bytes; this branch would be compiled too
      if (j + W * N <= n) j = blocks<Factors, W, N>(m, n, k, a, b, b_row, c, c_row, finish, j);
  };
  if constexpr (registers == 32) columns.template operator()<lanes, 4>();
  if constexpr (registers == 32) columns.template operator()<lanes, 3>();
  columns.template operator()<lanes, 2>();
  columns.template operator()<lanes, 1>();
  columns.template operator()<(lanes >= 4 ? lanes / 2 : 1), 1>();
  columns.template operator()<(lanes >= 8 ? lanes / 4 : 1), 1>();
  columns.template operator()<1, 1>();
}

template void gemm<Reals>(int, int, int, const Left&, const real*, ptrdiff_t, real*, ptrdiff_t, const Finish&);
#ifndef POSLAB_DOUBLE
template void gemm<Packed>(int, int, int, const Left&, const real*, ptrdiff_t, real*, ptrdiff_t, const Finish&);
template void gemm<PairsOfRows>(int, int, int, const Left&, const real*, ptrdiff_t, real*, ptrdiff_t, const Finish&);
#endif

}  // namespace poslab::POSLAB_ISA
