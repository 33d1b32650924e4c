// The linear layer, forward and backward. A weight matrix of the models here fits the first or second cache, so rows
// are worked off in blocks that stay in cache from the first operation to the last.
#include "core/cpu/row_blocks.h"

namespace poslab::POSLAB_ISA {

// y = x w + b
void linear(real* y, const real* x, const real* w, const real* b, int64_t rows, int in, int out) {
  parallel_ranges(rows, row_block, [&](int64_t from, int64_t to) {
    const Left xs{x + from * in, in, 1};
    if (b) gemm(int(to - from), out, in, xs, w, out, y + from * out, out, WithBias{b, neg_infinity});
    else gemm(int(to - from), out, in, xs, w, out, y + from * out, out, false);
  });
}

// dx += dy w^T   dw += x^T dy   db += sum of rows of dy
void linear_backward(Accumulator dx, Accumulator dw, Accumulator db, const real* dy, const real* x, const real* w,
                     int64_t rows, int in, int out) {
  const int64_t weights = int64_t(in) * out;
  const PartialSums partial_sums(rows, weights + out);
  real* w_transposed = scratch(transposed_slot, weights);                  // (out, in)
  if (dx) transpose(in, out, w, out, w_transposed, in);
  partial_sums.run([&](real* partial, int64_t from, int m, bool add) {
    const real* dys = dy + from * out;
    if (dx) gemm(m, in, out, {dys, out, 1}, w_transposed, in, dx.at + from * in, in, !dx.empty);
    if (dw) gemm(in, out, m, {x + from * in, 1, in}, dys, out, partial, out, add);
    if (db) sum_of_rows(partial + weights, dys, m, out, out, add);
  });
  partial_sums.add_up(dw, 0, weights);
  partial_sums.add_up(db, weights, out);
}

}  // namespace poslab::POSLAB_ISA
