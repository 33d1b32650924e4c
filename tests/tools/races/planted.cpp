#include "tests/tools/races/planted.h"

#include "cuda/launch.h"
#include "cuda/vectors.cuh"

namespace poslab::test {
namespace {

using namespace poslab::cuda;

// All threads of a block add to one number, or each to its own.
__global__ void add_to_one(real* y, bool race) {
  const int i = race ? 0 : int(threadIdx.x);
  y[i] = y[i] + 1;
}

// Blocks write the same number; a barrier does not help.
__global__ void blocks_write(real* y, bool race) {
  __syncthreads();
  if (threadIdx.x == 5) y[race ? 0 : blockIdx.x] = real(blockIdx.x);
  __syncthreads();
}

// Blocks 0 to 2 read a number that block 3 writes afterwards.
__global__ void written_after_reads(real* y, bool race) {
  if (blockIdx.x < 3 && threadIdx.x == 7) y[10 + blockIdx.x] = y[1];
  if (blockIdx.x == 3 && threadIdx.x == 9) y[race ? 1 : 2] = 1;
}

// Neighbours exchange numbers through memory, with a barrier in between.
__global__ void exchange(real* y, bool race) {
  y[threadIdx.x] = real(threadIdx.x);
  if (!race) __syncthreads();
  const real other = y[threadIdx.x ^ 1];
  __syncthreads();
  y[threadIdx.x] = other;
}

// Threads of different warps exchange numbers, which __syncwarp does not synchronize.
__global__ void exchange_of_warps(real* y, bool race) {
  y[threadIdx.x] = 1;
  __syncwarp();
  const real other = y[threadIdx.x ^ (race ? 32u : 1u)];
  __syncthreads();
  y[threadIdx.x] = other;
}

// One thread's load of 16 bytes includes a number that another thread writes.
__global__ void within_sixteen_bytes(real* y, bool race) {
  if (threadIdx.x == 0) {
    const float4 four = *reinterpret_cast<const float4*>(y);
    y[16] = four.x + four.w;
  }
  if (threadIdx.x == 40) y[race ? 3 : 4] = 1;
}

// One thread reads, and two others of its warp read again after a __syncwarp: the first thread's race is still found.
__global__ void written_after_other_warps_read(real* y, bool race) {
  real seen = 0;
  if (threadIdx.x % 32 == 0) seen = y[0], y[64 + threadIdx.x] = seen;
  __syncwarp();
  if (threadIdx.x == 33) seen = y[0], y[100] = seen;
  if (!race) __syncthreads();
  if (threadIdx.x == 33) y[0] = seen + 1;
}

template <auto kernel, int blocks>
void start(real* y, bool race) {
  launch(kernel, blocks, 64, y, race);
}

}  // namespace

const Planted planted[] = {
    {"add_to_one", start<add_to_one, 1>, "thread 1 of block (0, 0, 0) reads"},
    {"blocks_write", start<blocks_write, 4>, "which thread 5 of block (0, 0, 0) wrote"},
    {"written_after_reads", start<written_after_reads, 4>, "thread 9 of block (3, 0, 0) writes"},
    {"exchange", start<exchange, 1>, "which thread 0 of block (0, 0, 0) read"},
    {"exchange_of_warps", start<exchange_of_warps, 1>, "thread 32 of block (0, 0, 0) writes"},
    {"within_sixteen_bytes", start<within_sixteen_bytes, 1>, "byte 12 after pointer 1 of the 1"},
    {"written_after_other_warps_read", start<written_after_other_warps_read, 1>, "thread 33 of block (0, 0, 0) writes"},
};
const int planted_count = int(std::size(planted));

}  // namespace poslab::test
