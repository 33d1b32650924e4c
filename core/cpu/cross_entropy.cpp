// Softmax and the loss of one class per row in one pass over the logits. Row losses are summed in double, in pieces
// whose size does not depend on the threads.
#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/platform/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

constexpr int64_t piece = 64;   // rows

}  // namespace

// loss = mean_i (ln sum_j exp(x_ij - m_i) - (x_i,target_i - m_i)),  m_i = max_j x_ij
void cross_entropy(real* loss, real* p, const real* x, const int* target, int64_t rows, int n) {
  const int64_t pieces = (rows + piece - 1) / piece;
  double* partial = reinterpret_cast<double*>(scratch(0, pieces * int64_t(sizeof(double) / sizeof(real))));
  parallel_ranges(rows, piece, [&](int64_t from, int64_t to) {
    double total = 0;
    for (int64_t i = from; i < to; ++i) {
      const real *row = x + i * n, top = max_row(row, n);
      const real sum = softmax_row(p + i * n, row, top, n);
      total += double(std::log(sum) - (row[target[i]] - top));
    }
    partial[from / piece] = total;
  });
  double total = 0;
  for (int64_t i = 0; i < pieces; ++i) total += partial[i];
  *loss = real(total / double(rows));
}

void cross_entropy_backward(Accumulator dx, const real* dloss, const real* p, const int* target, int64_t rows, int n) {
  if (!dx) return;
  const real each = *dloss / real(rows);
  parallel_ranges(rows, piece, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      write_row(dx.at + i * n, !dx.empty, n, [&](int j, int count) { return load_some(p + i * n + j, count) * each; });
    for (int64_t i = from; i < to; ++i) dx.at[i * n + target[i]] -= each;  // a separate loop: see softmax_row
  });
}

}  // namespace poslab::POSLAB_ISA
