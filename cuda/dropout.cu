// y_e += x_e keep_e / (1 - rate). A warp takes 256 elements side by side.
#include "cuda/dropout.cuh"

namespace poslab::cuda {
namespace {

__global__ void drop_elements(Accumulator y, const real* x, int64_t n, DropoutArgs how) {
  const int64_t number = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp;
  const int64_t step = int64_t(gridDim.x) * blockDim.x * 8;
  for (int64_t first = number * warp * 8; first < n; first += step) {
    const Factors<warp> kept(how, first);
    const int64_t from = first + kept.lane;
    real v[8], sum[8];
    for (int k = 0; k < 8; ++k) {              // all reads come first, so that they are under way together
      const int64_t e = from + k * warp;
      v[k] = e < n ? x[e] : real(0), sum[k] = e < n && !y.empty ? y.at[e] : real(0);
    }
    for (int k = 0; k < 8; ++k) sum[k] += v[k] * kept.of(k);
    for (int k = 0; k < 8; ++k)
      if (from + k * warp < n) y.at[from + k * warp] = sum[k];
  }
}

}  // namespace

void dropout(Accumulator y, const real* x, int64_t n, Dropout how) {
  if (y) launch(drop_elements, blocks_for(n, 8 * threads), threads, y, x, n, dropout_args(how));
}

}  // namespace poslab::cuda
