// y_ij = exp(x_ij - m_i) / sum_k exp(x_ik - m_i), m_i = max_k x_ik, so that nothing overflows.
//   dx_ij += y_ij (dy_ij - sum_k dy_ik y_ik)
#include "cuda/softmax.cuh"

namespace poslab::cuda {
namespace {

template <int team>
__global__ void softmax_rows(real* y, const real* x, int64_t rows, int n) {
  for (Row<team> row(rows, n); row.any(); row.next()) softmax_row(row, y, x);
}

template <int team>
__global__ void softmax_rows_backward(Accumulator dx, const real* dy, const real* y, int64_t rows, int n) {
  for (Row<team> row(rows, n); row.any(); row.next()) {
    real d[per_thread], v[per_thread], mean = 0;
    for (int p = 0; p < row.end(); p += row.panel) {
      row.read(d, dy, p, 0), row.read(v, y, p, 0);
      for (int k = 0; k < per_thread; ++k) mean += d[k] * v[k];
    }
    mean = team_sum<team>(mean);
    for (int p = 0; p < row.end(); p += row.panel) {
      if (row.again()) row.read(d, dy, p, 0), row.read(v, y, p, 0);
      for (int k = 0; k < per_thread; ++k) v[k] *= d[k] - mean;
      row.add(dx, v, p);
    }
  }
}

}  // namespace

void softmax(real* y, const real* x, int64_t rows, int n) {
  launch(for_team(n, softmax_rows<8>, softmax_rows<warp>, softmax_rows<threads>), row_blocks(rows, n), threads, y, x,
         rows, n);
}
void softmax_backward(Accumulator dx, const real* dy, const real* y, int64_t rows, int n) {
  if (!dx) return;
  launch(for_team(n, softmax_rows_backward<8>, softmax_rows_backward<warp>, softmax_rows_backward<threads>),
         row_blocks(rows, n), threads, dx, dy, y, rows, n);
}

}  // namespace poslab::cuda
