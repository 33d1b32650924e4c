// The feed-forward network of a transformer, forward and backward. A block of rows of the hidden layer stays in cache
// between the two products, and the hidden layer's gradient is never stored as a whole.
#include "core/cpu/column_blocks.h"

namespace poslab::POSLAB_ISA {
// hidden = max(x w1 + b1, 0)   y = hidden w2 + b2
void feed_forward(real* y, real* hidden, const real* x, const real* w1, const real* b1, const real* w2, const real* b2,
                  int64_t rows, int in, int d_ff, int out) {
  const Multiply multiply;
  const ColumnBlocks w1_blocks = to_column_blocks(multiply, column_blocks_buffer, rows, w1, in, d_ff);
  const Right whole_w2 = multiply.right(shared_pairs, rows, d_ff, out, w2, out);
  parallel_ranges(rows, row_block, [&](int64_t from, int64_t to) {
    const int m = int(to - from);
    real* h = hidden + from * d_ff;
    const Left xs = multiply.left(block_pairs1, m, in, {x + from * in, in, 1});
    multiply_blocks(multiply, m, in, xs, w1_blocks, h, d_ff, {.bias = b1, .min = 0});
    multiply(m, out, d_ff, multiply.left(block_pairs2, m, d_ff, {h, d_ff, 1}), whole_w2, y + from * out, out,
             {.bias = b2});
  });
}

// dh = dy w2^T [hidden > 0]  dx += dh w1^T  dw1 += x^T dh  db1 += rows of dh  dw2 += hidden^T dy  db2 += rows of dy
void feed_forward_backward(Accumulator dx, Accumulator dw1, Accumulator db1, Accumulator dw2, Accumulator db2,
                           const real* dy, const real* x, const real* hidden, const real* w1, const real* w2,
                           int64_t rows, int in, int d_ff, int out) {
  const Multiply multiply;
  const int64_t n1 = int64_t(in) * d_ff, n2 = int64_t(d_ff) * out;
  const int64_t at_b1 = n1, at_w2 = at_b1 + d_ff, at_b2 = at_w2 + n2;
  const PartialSums partial_sums(rows, at_b2 + out);
  const Right w1_transposed = multiply.transposed(transposed_buffer, shared_pairs, in, d_ff, w1);
  const ColumnBlocks w2_blocks =
      transposed_to_column_blocks(multiply, column_blocks_buffer, transposed2_buffer, shared_pairs, w2, d_ff, out);
  partial_sums.run([&](real* partial, int64_t from, int m, bool add) {
    const real *dys = dy + from * out, *xs = x + from * in, *h = hidden + from * d_ff;
    real* dh = scratch(hidden_buffer, int64_t(row_block) * columns);
    const Left of_dys = multiply.left(block_pairs1, m, out, {dys, out, 1});
    const Left of_xs = multiply.left(block_pairs2, in, m, {xs, 1, in});
    for (int s = 0; s < w2_blocks.count(); ++s) {
      const int n = w2_blocks.width(s), j = s * columns;
      multiply(m, n, out, of_dys, w2_blocks[s], dh, columns, {.positive = h + j, .row = d_ff});
      if (dx)
        multiply(m, in, n, multiply.left(block_pairs3, m, n, {dh, columns, 1}), multiply.from_row(w1_transposed, j),
                 dx.at + from * in, in, {.add = s > 0 || !dx.empty});
      if (dw1)
        multiply(in, n, m, of_xs, multiply.right(block_pairs4, in, m, n, dh, columns), partial + j, d_ff, {.add = add});
      if (db1) sum_of_rows(partial + at_b1 + j, dh, m, n, columns, add);
    }
    if (dw2)
      multiply(d_ff, out, m, multiply.left(block_pairs3, d_ff, m, {h, 1, d_ff}),
               multiply.right(block_pairs4, d_ff, m, out, dys, out), partial + at_w2, out, {.add = add});
    if (db2) sum_of_rows(partial + at_b2, dys, m, out, out, add);
  });
  partial_sums.add_up(dw1, 0, n1);
  partial_sums.add_up(db1, at_b1, d_ff);
  partial_sums.add_up(dw2, at_w2, n2);
  partial_sums.add_up(db2, at_b2, out);
}

}  // namespace poslab::POSLAB_ISA
