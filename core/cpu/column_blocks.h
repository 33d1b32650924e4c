// The second factor of a product, copied into blocks of 64 columns, each contiguous: in a wider matrix, the rows of
// such a block would map to the same few lines of the first cache.
#pragma once
#include "core/cpu/product.h"
#include "core/cpu/row_blocks.h"

namespace poslab::POSLAB_ISA {

constexpr int columns = 64;

// A matrix cut into blocks of 64 columns: block s begins at column 64 s.
struct ColumnBlocks {
  Right first;
  int64_t step;  // reals from one block to the next
  int n;         // columns in all
  int count() const { return (n + columns - 1) / columns; }
  int width(int s) const { return int(smaller_of(columns, n - s * columns)); }
  Right operator[](int s) const { return {first.at + s * step, first.row, first.packed}; }
};
// The blocks without the rows before p, a multiple of 64.
inline ColumnBlocks from_row(const Multiply& multiply, const ColumnBlocks& b, int p) {
  return {multiply.from_row(b.first, p), b.step, b.n};
}

// b: (k, n) -> its blocks of columns, each (k, 64), copied or packed (product.h). If a has few `rows`, the result is
// b itself.
inline ColumnBlocks to_column_blocks(const Multiply& multiply, int buffer, int64_t rows, const real* b, int k, int n) {
  const int steps = multiply.steps(k);
  ColumnBlocks to{{nullptr, columns, multiply.packs()}, int64_t(steps) * columns, n};
  if (rows < few_rows && multiply.reads_in_place(rows, k)) return {{b, n}, columns, n};
  real* at = scratch(buffer, to.count() * to.step);
  for (int s = 0; s < to.count(); ++s) multiply.copy(k, to.width(s), b + s * columns, n, at + s * to.step, columns);
  to.first.at = at;
  return to;
}

// w: (n, k) -> the blocks of columns of its transpose (k, n). other, third: buffers for intermediate copies
inline ColumnBlocks transposed_to_column_blocks(const Multiply& multiply, int buffer, int other, int third,
                                                const real* w, int n, int k) {
  const Right all = multiply.transposed(other, third, n, k, w);
  ColumnBlocks to{all, int64_t(multiply.steps(k)) * columns, n};
  real* at = scratch(buffer, to.count() * to.step);
  for (int s = 0; s < to.count(); ++s)
    for (int p = 0; p < multiply.steps(k); ++p)
      __builtin_memcpy(at + s * to.step + p * columns, all.at + p * all.row + s * columns,
                       size_t(to.width(s)) * sizeof(real));
  to.first.at = at, to.first.row = columns;
  return to;
}

// c = finish(a b) (gemm.h)
inline void multiply_blocks(const Multiply& multiply, int m, int k, Left a, const ColumnBlocks& b, real* c,
                            ptrdiff_t c_row, Finish finish) {
  for (int s = 0; s < b.count(); ++s, c += columns) {
    multiply(m, b.width(s), k, a, b[s], c, c_row, finish);
    if (finish.bias) finish.bias += columns;
  }
}

}  // namespace poslab::POSLAB_ISA
