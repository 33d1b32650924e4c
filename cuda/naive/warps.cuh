// For naive kernels in which a warp takes a row or a result, and its 32 lanes share the sum:
//
//   for (const int64_t i : warps(rows))
//     for (int j = lane(); j < n; j += warp) ...
#pragma once
#include "cuda/launch.h"

namespace poslab::cuda::naive {

// The items of 0 .. n-1 that this warp of the grid handles: the same for all its lanes, as shuffles require.
__device__ inline Items warps(int64_t n) {
  return {(int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp, n, int64_t(gridDim.x) * blockDim.x / warp};
}
__device__ inline int lane() { return int(threadIdx.x) % warp; }

}  // namespace poslab::cuda::naive
