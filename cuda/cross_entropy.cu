// loss = mean_i (ln sum_j exp(x_ij - m_i) - (x_i,target_i - m_i)),  m_i = max_j x_ij,  and p = softmax(x) for
//   dx_ij += dloss (p_ij - [j = target_i]) / rows
// Row losses are summed in double: in each block, then the blocks' sums in one block.
#include "cuda/softmax.cuh"

namespace poslab::cuda {
namespace {

template <int team>
__global__ void losses(double* partial, real* p, const real* x, const int* target, int64_t rows, int n) {
  double sum = 0;
  for (Row<team> row(rows, n); row.any(); row.next()) {
    const Normalizer z = softmax_row(row, p, x);
    if (row.leads()) sum += double(std::log(z.sum) - (x[row.start() + target[row.i]] - z.top));
  }
  sum = team_sum<threads>(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void mean_loss(real* loss, const double* partial, int count, int64_t rows) {
  double sum = 0;
  for (int i = int(threadIdx.x); i < count; i += threads) sum += partial[i];
  sum = team_sum<threads>(sum);
  if (threadIdx.x == 0) *loss = real(sum / double(rows));
}

template <int team>
__global__ void losses_backward(Accumulator dx, const real* dloss, const real* p, const int* target, int64_t rows,
                                int n) {
  const real each = *dloss / real(rows);
  for (Row<team> row(rows, n); row.any(); row.next()) {
    const int right = row.n ? target[row.i] : 0;
    for (int from = 0; from < row.end(); from += row.panel) {
      real v[per_thread];
      row.read(v, p, from, 0);
      for (int k = 0; k < per_thread; ++k) v[k] = (v[k] - real(row.column(from, k) == right)) * each;
      row.add(dx, v, from);
    }
  }
}

}  // namespace

void cross_entropy(real* loss, real* p, const real* x, const int* target, int64_t rows, int n) {
  const int blocks = row_blocks(rows, n);
  double* partial = reinterpret_cast<double*>(scratch(0, blocks * int64_t(sizeof(double) / sizeof(real))));
  launch(for_team(n, losses<8>, losses<warp>, losses<threads>), blocks, threads, partial, p, x, target, rows, n);
  launch(mean_loss, 1, threads, loss, partial, blocks, rows);
}
void cross_entropy_backward(Accumulator dx, const real* dloss, const real* p, const int* target, int64_t rows, int n) {
  if (!dx) return;
  launch(for_team(n, losses_backward<8>, losses_backward<warp>, losses_backward<threads>), row_blocks(rows, n), threads,
         dx, dloss, p, target, rows, n);
}

}  // namespace poslab::cuda
