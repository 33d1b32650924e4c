// y_i = max_j x_ij, at_i = the first j that attains it. A row with a NaN has the maximum NaN, at the first one.
#include "cuda/rows.cuh"

namespace poslab::cuda {
namespace {

struct Found { real value; int at; };

// Does a come before b as the maximum: NaN before all, then the larger, then the one further left.
__device__ inline bool before(const Found& a, const Found& b) {
  const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  if (a_nan != b_nan) return a_nan;
  return a.value > b.value || ((a_nan || a.value == b.value) && a.at < b.at);
}

template <int team>
__global__ void max_rows(real* y, int* at, const real* x, int64_t rows, int n) {
  for (Row<team> row(rows, n); row.any(); row.next()) {
    Found top{-INFINITY, n};
    for (int p = 0; p < n; p += row.panel) {             // all panels: here a warp has long rows too
      real v[per_thread];
      row.read(v, x, p, -INFINITY);
      for (int k = 0; k < per_thread; ++k) {
        const Found here{v[k], row.column(p, k)};
        if (here.at < n && before(here, top)) top = here;
      }
    }
    for (int away = team / 2; away > 0; away /= 2) {
      const Found other{__shfl_xor_sync(0xFFFFFFFFu, top.value, away), __shfl_xor_sync(0xFFFFFFFFu, top.at, away)};
      if (before(other, top)) top = other;
    }
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

void max(real* y, int* at, const real* x, int64_t rows, int n) {     // a warp has the longest rows too: they are rare
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
