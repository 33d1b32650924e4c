// y_i = table[at_i], and backward dtable[at_i] += dy_i, where several rows may add to one entry of the table.
#include "cuda/rows.cuh"
#include "cuda/sums.h"

namespace poslab::cuda {
namespace {

template <int team>
__global__ void gather_rows(real* y, const real* table, const int* at, int64_t rows, int n) {
  for (Row<team> row(rows, n); row.any(); row.next()) {
    const real* entry = table + (row.n ? int64_t(at[row.i]) * n : 0);
    for (int p = 0; p < row.end(); p += row.panel) {
      real v[per_thread];
      row.read_columns(v, entry, p, 0);
      row.write(y, v, p);
    }
  }
}

constexpr int columns_per_lane = 2;
constexpr int rows_in_flight = 4;  // rows read before the first is added, so that their latencies overlap

// A warp takes 64 columns of one entry and looks through the indices of `rows_per_split` rows, 32 at a time; it adds up
// the matches in order. So no two threads write to one place, and the sum's order is fixed. Without `partial` there
// is one split.
__global__ void gather_entries(Accumulator dtable, real* partial, const real* dy, const int* at, int64_t rows, int n,
                               int entries, int splits, int64_t rows_per_split) {
  const int64_t number = (int64_t(blockIdx.x) * threads + threadIdx.x) / warp;   // adjacent warps search the same rows
  const int entry = int(number % entries), part = int(number / entries % splits), lane = int(threadIdx.x) % warp;
  const int first = int(number / entries / splits) * columns_per_lane * warp + lane;
  if (first - lane >= n) return;
  const int64_t end = (part + 1) * rows_per_split < rows ? (part + 1) * rows_per_split : rows;
  real sum[columns_per_lane] = {};
  for (int64_t i = part * rows_per_split; i < end; i += warp) {
    unsigned hits = __ballot_sync(0xFFFFFFFFu, i + lane < end && at[i + lane] == entry);
    while (hits) {
      real d[rows_in_flight][columns_per_lane];
      for (int u = 0; u < rows_in_flight; ++u, hits &= hits - 1)
        for (int k = 0; k < columns_per_lane; ++k) {
          const int j = first + k * warp;
          d[u][k] = hits && j < n ? dy[(i + __ffs(int(hits)) - 1) * n + j] : real(0);
        }
      for (int u = 0; u < rows_in_flight; ++u)
        for (int k = 0; k < columns_per_lane; ++k) sum[k] += d[u][k];
    }
  }
  for (int k = 0; k < columns_per_lane; ++k) {
    const int j = first + k * warp;
    if (j >= n) continue;
    if (partial) partial[(int64_t(part) * entries + entry) * n + j] = sum[k];
    else add_to(dtable, int64_t(entry) * n + j, sum[k]);
  }
}

}  // namespace

void gather(real* y, const real* table, const int* at, int64_t rows, int n) {
  launch(for_team(n, gather_rows<8>, gather_rows<warp>, gather_rows<threads>), row_blocks(rows, n), threads, y, table,
         at, rows, n);
}

// The rows are split until there are 8192 warps, which fill a GPU; but a split has at least 64 rows.
void gather_backward(Accumulator dtable, const real* dy, const int* at, int64_t rows, int n, int entries) {
  if (!dtable) return;
  const int64_t places = int64_t(entries) * ((n + columns_per_lane * warp - 1) / (columns_per_lane * warp));
  const int64_t most = (rows + 63) / 64, wanted = 8192 / places;
  const int64_t tried = wanted < 1 ? 1 : wanted < most ? wanted : most, rows_per_split = (rows + tried - 1) / tried;
  const int splits = int((rows + rows_per_split - 1) / rows_per_split);
  const int64_t size = int64_t(entries) * n;
  real* partial = splits > 1 ? room_for_sums(splits * size) : nullptr;
  launch(gather_entries, unsigned((places * splits * warp + threads - 1) / threads), threads, dtable, partial, dy,
         at, rows, n, entries, splits, rows_per_split);
  if (partial) add_up_later({dtable, partial, size, size, splits});
}

}  // namespace poslab::cuda
