// The product of naive_product.h by OpenBLAS: the engine `openblas` (core/engine.h).
#pragma once
#include "core/cpu/naive_product.h"
#include "core/platform/openblas.h"

namespace poslab::POSLAB_ISA {

struct OpenBlasProduct {
  // c = a b, or c += a b if add                                       a: (m, k)   b: (k, n)   c: (m, n), row by row
  static void multiply(int m, int n, int k, Factor a, Factor b, real* c, bool add) {
    constexpr int row_by_row = 101, as_stored = 111, transposed = 112;           // CBLAS's numbers
    const auto form = [](Factor x) { return x.column == 1 ? as_stored : transposed; };
    // Reals from one stored row to the next; for a single row CBLAS requires at least its length.
    const auto line = [](Factor x, int rows, int columns) {
      return x.column == 1 ? larger(x.row, columns) : larger(x.column, rows);
    };
    openblas().gemm(row_by_row, form(a), form(b), m, n, k, 1, a.at, line(a, m, k), b.at, line(b, k, n), add, c, n);
  }

 private:
  static int larger(ptrdiff_t a, int b) { return a > b ? int(a) : b; }
};

}  // namespace poslab::POSLAB_ISA
