// The second factor of a product, copied into blocks of 64 columns, each contiguous: in a wider matrix, the rows of
// such a block would fall into the same few lines of the first cache.
#pragma once
#include "core/cpu/product.h"
#include "core/cpu/row_blocks.h"

namespace poslab::POSLAB_ISA {

constexpr int columns = 64;

// A matrix of `rows` rows and n columns, cut into blocks of 64 columns: where block s starts, and how wide it is.
struct ColumnBlocks {
  int rows, n;
  int count() const { return (n + columns - 1) / columns; }
  int width(int s) const { return int(smaller_of(columns, n - s * columns)); }
  int64_t size() const { return int64_t(count()) * rows * columns; }
  int64_t start(int s) const { return int64_t(s) * rows * columns; }
};

// w: (rows, n) -> its blocks of columns, each (rows, 64), or (rows / 2, 64) of pairs (product.h)
inline const real* in_column_blocks(const Multiply& multiply, int buffer, const real* w, const ColumnBlocks& to) {
  real* at = scratch(buffer, to.size());
  for (int s = 0; s < to.count(); ++s)
    multiply.copy(to.rows, to.width(s), w + s * columns, to.n, at + to.start(s), columns);
  return at;
}

// w: (m, n) -> the blocks of columns of its transpose (n, m), which on the way lies in the buffer `other`
inline const real* transposed_in_column_blocks(const Multiply& multiply, int buffer, int other, const real* w, int m,
                                               int n) {
  real* transposed = scratch(other, int64_t(m) * n);
  transpose(m, n, w, n, transposed, m);
  return in_column_blocks(multiply, buffer, transposed, {n, m});
}

// c = the finished a b, b in blocks of columns; end(j) finishes columns j .. j + 64
template <class End>
inline void multiply_blocks(const Multiply& multiply, int m, int k, Left a, const real* b, const ColumnBlocks& of,
                            real* c, ptrdiff_t c_row, const End& end) {
  for (int s = 0, j = 0; s < of.count(); ++s, j += columns)
    multiply(m, of.width(s), k, a, {b + of.start(s), columns}, c + j, c_row, end(j));
}
inline void multiply_blocks(const Multiply& multiply, int m, int k, Left a, const real* b, const ColumnBlocks& of,
                            real* c, ptrdiff_t c_row, bool add) {
  multiply_blocks(multiply, m, k, a, b, of, c, c_row, [=](int) { return Into{add}; });
}

}  // namespace poslab::POSLAB_ISA
