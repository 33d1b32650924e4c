// The second half of a sum over very many rows: partial sums of `splits` blocks, (splits, parts, n), added up in order.
//   a_j += sum_s partial[s][0][j]     b_j += sum_s partial[s][1][j]
#pragma once
#include "cuda/launch.h"

namespace poslab::cuda {
namespace {

// A warp has 32 columns, the warps of a block share the splits, which are `pitch` apart.
__global__ void add_partial_sums(Accumulator a, Accumulator b, const real* partial, int64_t n, int64_t pitch,
                                 int splits) {
  SHARED(real, part, 1024);
  const Accumulator to = blockIdx.y ? b : a;
  if (!to.at) return;
  const int group = int(threadIdx.x) / warp, groups = int(blockDim.x) / warp, lane = int(threadIdx.x) % warp;
  const int64_t j = int64_t(blockIdx.x) * warp + lane;
  real sum = 0;
  if (j < n)
    for (int s = group; s < splits; s += groups) sum += partial[s * pitch + blockIdx.y * n + j];
  part[threadIdx.x] = sum;
  __syncthreads();
  if (group || j >= n) return;
  for (int g = 1; g < groups; ++g) sum += part[g * warp + lane];
  add_to(to, j, sum);
}

void add_up(const Accumulator& a, const Accumulator& b, int parts, const real* partial, int64_t n, int splits) {
  const int groups = splits < 16 ? 1 : splits > 256 ? 32 : splits / 8;
  const unsigned blocks = unsigned((n + warp - 1) / warp);
  const bool one_array = b && a.at == b.at;             // then b waits for a
  launch(add_partial_sums, dim3(blocks, one_array ? 1 : unsigned(parts)), groups * warp, a, b, partial, n, parts * n,
         splits);
  if (one_array) launch(add_partial_sums, blocks, groups * warp, b, Accumulator{}, partial + n, n, parts * n, splits);
}

}  // namespace
}  // namespace poslab::cuda
