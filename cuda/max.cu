// y_i = max_j x_ij, at_i = the first j that attains it. A row with a NaN has the maximum NaN, at the first one.
#include "cuda/largest.cuh"

namespace poslab::cuda {
namespace {

template <int team>
__global__ void max_rows(real* y, int* at, const real* x, int64_t rows, int n) {
  for (Row<team> row(rows, n); row.any(); row.next()) {
    Found top{-INFINITY, n};
    for (int p = 0; p < n; p += row.panel) {             // several panels: here a warp takes long rows too
      real v[per_thread];
      row.read(v, x, p, -INFINITY);
      for (int k = 0; k < per_thread; ++k) {
        const Found here{v[k], row.column(p, k)};
        if (here.at < n && before(here, top)) top = here;
      }
    }
    top = team_largest<team>(top);
    if (row.leads()) y[row.i] = top.value, at[row.i] = top.at;
  }
}

template <int team>
__global__ void max_rows_backward(Accumulator dx, const real* dy, const int* at, int64_t rows, int n) {
  for (Row<team> row(rows, n); row.any(); row.next()) {
    const int top = row.n ? at[row.i] : 0;
    const real d = row.n ? dy[row.i] : real(0);
    for (int p = 0; p < row.end(); p += row.panel)
      for (int k = 0; k < per_thread; ++k) {
        const int j = row.column(p, k);
        if (j < row.n && (dx.empty || j == top)) add_to(dx, row.start() + j, j == top ? d : real(0));
      }
  }
}

}  // namespace

void max(real* y, int* at, const real* x, int64_t rows, int n) {     // a warp takes the longest rows too: they are rare
  launch(for_team(n, max_rows<8>, max_rows<warp>, max_rows<warp>),
         blocks_for(rows, for_team(n, Row<8>::together, Row<warp>::together, Row<warp>::together)), threads, y, at, x,
         rows, n);
}
void max_backward(Accumulator dx, const real* dy, const int* at, int64_t rows, int n) {
  if (!dx) return;
  launch(for_team(n, max_rows_backward<8>, max_rows_backward<warp>, max_rows_backward<threads>), row_blocks(rows, n),
         threads, dx, dy, at, rows, n);
}

}  // namespace poslab::cuda
