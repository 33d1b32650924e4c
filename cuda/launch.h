// How a kernel is written and started here. The same .cu file is compiled by nvcc for the GPU, and as plain C++ against
// cuda/emulate.h for the tests: there the threads of a block are fibers, and shared memory records who touched what
// since the last barrier.
//
//   __global__ void twice(real* y, const real* x, int64_t n) {           // y_i = 2 x_i
//     for (const int64_t i : all(n)) y[i] = 2 * x[i];
//   }
//   launch(twice, blocks_for(n), threads, y, x, n);
#pragma once
#ifdef POSLAB_EMULATE
#include "cuda/emulate.h"
#define UNROLL
#else
#define UNROLL _Pragma("unroll")      // for loops over an array that is to stay in registers
#include <cuda_runtime.h>
#define SHARED(type, name, n) __shared__ type name[n]                   // n values that the threads of a block share
#define SHARED_OF_LAUNCH(type, name) extern __shared__ type name[]      // the launch says how many: BlockSize
#endif

#include "cuda/driver.h"
#include "cuda/queue.h"
#include "cuda/record_key.h"

namespace poslab::cuda {

constexpr int warp = 32, threads = 256;          // threads of a block, unless a kernel asks for another number

// Threads of a block, and bytes of its SHARED_OF_LAUNCH. A single number means threads.
struct BlockSize {
  int threads, shared = 0;
  BlockSize(int threads_, int shared_ = 0) : threads(threads_), shared(shared_) {}
};

// Starts kernel(args...) on a grid of blocks; it runs after all earlier launches, and before the work that is held back
// (cuda/queue.h).
template <class... Parameters, class... Args>
void launch_first(void (*kernel)(Parameters...), dim3 blocks, BlockSize size, const Args&... args) {
  if (std::string* key = step_key())
    append_key(*key, blocks.x, blocks.y, blocks.z, size.threads, size.shared, reinterpret_cast<const void*>(kernel),
               static_cast<const Parameters&>(args)...);
  if (dry_run()) return;
#ifdef POSLAB_EMULATE
  (each_pointer(check_device_memory, static_cast<const Parameters&>(args)), ...);
  run_or_record([=] {
    emulate::Launch given{reinterpret_cast<const void*>(kernel), {}};
    (each_pointer([&](const void* at) { given.pointers.push_back(at); }, static_cast<const Parameters&>(args)), ...);
    emulate::run(blocks, size.threads, [&] { kernel(args...); }, size.shared, given);
  });
#else
  // A kernel must request more than 48 KB of shared memory. The limit is a property of the kernel, and other threads
  // may start the same kernel with less at the same time: so it is always set to the maximum.
  if (size.shared > 48 << 10)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, driver::shared_memory()),
          "asking for shared memory");
  kernel<<<blocks, size.threads, size_t(size.shared), stream()>>>(args...);
  check(cudaGetLastError(), "starting a kernel");
#endif
}

// The same, but after all held-back work on which the kernel may depend. A kernel that reads or writes before an
// address that it is given, or far after it, needs a start_sums_in() of its own, as Adam's kernels have.
template <class... Parameters, class... Args>
void launch(void (*kernel)(Parameters...), dim3 blocks, BlockSize size, const Args&... args) {
  start_products();
  const Extent sums = where_sums_go();
  const auto wait_for_sums = [sums](const void* at) {
    if (sums.begin <= at && at < sums.end) start_sums_in(at, static_cast<const char*>(at) + 1);
  };
  (each_pointer(wait_for_sums, static_cast<const Parameters&>(args)), ...);
  launch_first(kernel, blocks, size, args...);
}

// Blocks for n independent items, one for each thread; at most 4096, which fill any GPU: then threads loop (see all).
inline int blocks_for(int64_t n, int per_block = threads) {
  const int64_t blocks = (n + per_block - 1) / per_block;
  return int(blocks < 1 ? 1 : blocks > 4096 ? 4096 : blocks);
}

// The items of 0 .. n-1 that this thread of the grid handles: for (const int64_t i : all(n)).
struct Items {
  struct At {
    int64_t i, step;
    __device__ int64_t operator*() const { return i; }
    __device__ void operator++() { i += step; }
    __device__ bool operator!=(const At& end) const { return i < end.i; }
  };
  int64_t first, last, step;
  __device__ At begin() const { return {first, step}; }
  __device__ At end() const { return {last, step}; }
};
__device__ inline Items all(int64_t n) {
  return {int64_t(blockIdx.x) * blockDim.x + threadIdx.x, n, int64_t(gridDim.x) * blockDim.x};
}

// Combines x of neighbouring lanes, a power of two of them, always in the same order; every lane gets the result.
template <class T, class Combine>
__device__ inline T combine_lanes(T x, int lanes, const Combine& combine) {
  for (int away = lanes / 2; away > 0; away /= 2) x = combine(x, __shfl_xor_sync(0xFFFFFFFFu, x, away));
  return x;
}
template <class T>
__device__ inline T warp_sum(T x, int lanes = warp) {
  return combine_lanes(x, lanes, [](T a, T b) { return a + b; });
}
template <class T>
__device__ inline T warp_max(T x, int lanes = warp) {
  return combine_lanes(x, lanes, [](T a, T b) { return b > a ? b : a; });
}

// Whether 16 bytes, the widest load, may be read from here at once.
__host__ __device__ inline bool aligned(const void* at) { return reinterpret_cast<uintptr_t>(at) % 16 == 0; }

// to[i] = or += value
__device__ inline void add_to(const Accumulator& to, int64_t i, real value) {
  to.at[i] = to.empty ? value : to.at[i] + value;
}

}  // namespace poslab::cuda
