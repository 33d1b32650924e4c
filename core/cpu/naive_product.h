// The product of two matrices by its definition: the engine `naive` (core/engine.h). Read it before gemm.h, which
// computes the same sums in tiles that stay in registers.
#pragma once
#include <cstddef>

#include "core/real.h"

namespace poslab::POSLAB_ISA {

// A matrix, stored by rows or transposed: x_ij = at[i row + j column].
struct Factor {
  const real* at;
  ptrdiff_t row, column;
  real operator()(int i, int j) const { return at[i * row + j * column]; }
};

struct NaiveProduct {
  // c_ij = sum_p a_ip b_pj, added to c_ij if add                      a: (m, k)   b: (k, n)   c: (m, n), row by row
  static void multiply(int m, int n, int k, Factor a, Factor b, real* c, bool add) {
    for (int i = 0; i < m; ++i) {
      real* ci = c + ptrdiff_t(i) * n;
      for (int j = 0; j < n && !add; ++j) ci[j] = 0;
      for (int p = 0; p < k; ++p)
        for (int j = 0; j < n; ++j) ci[j] += a(i, p) * b(p, j);   // j innermost: rows of b and c are contiguous
    }
  }
};

}  // namespace poslab::POSLAB_ISA
