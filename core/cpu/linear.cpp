// The linear layer, forward and backward. The weight matrices of our models fit the first or second cache, and a block
// of rows stays in cache from the first operation to the last.
#include "core/cpu/column_blocks.h"

namespace poslab::POSLAB_ISA {

namespace {

// Copying the second factor into column blocks pays off if it fills several, and if the first factor has many rows.
bool worth_blocks(int64_t rows, int width) { return rows >= row_block && width > columns; }

}  // namespace

// y = x w + b
void linear(real* y, const real* x, const real* w, const real* b, int64_t rows, int in, int out) {
  const Multiply multiply;
  const bool blocked = worth_blocks(rows, out);
  const ColumnBlocks blocks =
      blocked ? to_column_blocks(multiply, column_blocks_buffer, rows, w, in, out) : ColumnBlocks{};
  const Right whole = blocked ? Right{} : multiply.right(shared_pairs, rows, in, out, w, out);
  parallel_ranges(rows, row_block, [&](int64_t from, int64_t to) {
    const int m = int(to - from);
    const Left xs = multiply.left(block_pairs1, m, in, {x + from * in, in, 1});
    real* ys = y + from * out;
    if (blocked)
      multiply_blocks(multiply, m, in, xs, blocks, ys, out, {.bias = b});
    else
      multiply(m, out, in, xs, whole, ys, out, {.bias = b});
  });
}

// dx += dy w^T   dw += x^T dy   db += sum of rows of dy
void linear_backward(Accumulator dx, Accumulator dw, Accumulator db, const real* dy, const real* x, const real* w,
                     int64_t rows, int in, int out) {
  const Multiply multiply;
  const int64_t weights = int64_t(in) * out;
  const PartialSums partial_sums(rows, weights + out);
  // dy is copied into blocks only for a wide x, whose many columns read the copy.
  const bool w_blocked = worth_blocks(rows, in), dy_blocked = w_blocked && worth_blocks(rows, out);
  ColumnBlocks w_blocks{};
  Right w_transposed{};
  if (dx && w_blocked)
    w_blocks = transposed_to_column_blocks(multiply, column_blocks_buffer, transposed_buffer, shared_pairs, w, in, out);
  else if (dx)
    w_transposed = multiply.transposed(transposed_buffer, shared_pairs, in, out, w);
  partial_sums.run([&](real* partial, int64_t from, int m, bool add) {
    const real* dys = dy + from * out;
    if (dx) {
      const Left of_dys = multiply.left(block_pairs1, m, out, {dys, out, 1});
      real* to = dx.at + from * in;
      if (w_blocked)
        multiply_blocks(multiply, m, out, of_dys, w_blocks, to, in, {.add = !dx.empty});
      else
        multiply(m, in, out, of_dys, w_transposed, to, in, {.add = !dx.empty});
    }
    if (dw) {
      const Left of_xs = multiply.left(block_pairs2, in, m, {x + from * in, 1, in});
      if (dy_blocked)
        multiply_blocks(multiply, in, m, of_xs, to_column_blocks(multiply, hidden_buffer, in, dys, m, out), partial,
                        out, {.add = add});
      else
        multiply(in, out, m, of_xs, multiply.right(block_pairs3, in, m, out, dys, out), partial, out, {.add = add});
    }
    if (db) sum_of_rows(partial + weights, dys, m, out, out, add);
  });
  partial_sums.add_up(dw, 0, weights);
  partial_sums.add_up(db, weights, out);
}

}  // namespace poslab::POSLAB_ISA
