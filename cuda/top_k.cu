// The k largest numbers of each row, in order, and their columns. Each of k rounds finds the next number in
// order.
#include "cuda/largest.cuh"

namespace poslab::cuda {
namespace {

template <int team>
__global__ void top_of_rows(real* y, real* at, const real* x, int64_t rows, int n, int k) {
  for (Row<team> row(rows, n); row.any(); row.next()) {
    real v[per_thread];
    const bool again = n > row.panel;                    // reads panels again: a warp takes long rows too
    if (!again) row.read(v, x, 0, -INFINITY);
    Found last{};
    for (int r = 0; r < k; ++r) {
      Found top{-INFINITY, n};
      for (int p = 0; p < n; p += row.panel) {
        if (again) row.read(v, x, p, -INFINITY);
        for (int i = 0; i < per_thread; ++i) {
          const Found here{v[i], row.column(p, i)};
          if (here.at < n && (r == 0 || before(last, here)) && before(here, top)) top = here;
        }
      }
      last = team_largest<team>(top);
      if (row.leads()) y[row.i * k + r] = last.value, at[row.i * k + r] = real(last.at);
    }
  }
}

template <int team>
__global__ void top_of_rows_backward(Accumulator dx, const real* dy, const real* at, int64_t rows, int n, int k) {
  for (Row<team> row(rows, n); row.any(); row.next()) {
    const real none[per_thread] = {};
    for (int p = 0; p < n && dx.empty; p += row.panel) row.write(dx.at, none, p);
    __syncwarp();
    for (int r = row.lane; r < k && row.n; r += team) {  // the k columns of a row differ from each other
      const int64_t to = row.start() + int64_t(at[row.i * k + r]);
      dx.at[to] += dy[row.i * k + r];
    }
  }
}

// A warp takes the longest rows too.
int team_blocks(int64_t rows, int n) {
  return blocks_for(rows, for_team(n, Row<8>::together, Row<warp>::together, Row<warp>::together));
}

}  // namespace

void top_k(real* y, real* at, const real* x, int64_t rows, int n, int k) {
  launch(for_team(n, top_of_rows<8>, top_of_rows<warp>, top_of_rows<warp>), team_blocks(rows, n), threads, y, at, x,
         rows, n, k);
}
void top_k_backward(Accumulator dx, const real* dy, const real* at, int64_t rows, int n, int k) {
  if (!dx) return;
  launch(for_team(n, top_of_rows_backward<8>, top_of_rows_backward<warp>, top_of_rows_backward<warp>),
         team_blocks(rows, n), threads, dx, dy, at, rows, n, k);
}

}  // namespace poslab::cuda
