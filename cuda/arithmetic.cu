// Arithmetic over a StridedLoop: broadcasting, reductions, and copies in any order of dimensions.
//
// A thread takes one index of the loop and computes its offset in each array. In reductions the threads of a block
// share the terms of each sum, and if there are few sums, several blocks share them.
#include <algorithm>
#include <cmath>

#include "cuda/launch.h"

namespace poslab::cuda {
namespace {

// Computes in 64 bits; ceil_div (logits.cuh) computes in 32 bits, as kernels do.
int64_t pieces_of(int64_t n, int64_t size) { return (n + size - 1) / size; }

void append(StridedLoop& to, int64_t size, int64_t y, int64_t a, int64_t b) {
  const int d = to.dims++;
  to.size[d] = size, to.y[d] = y, to.a[d] = a, to.b[d] = b;
}
void append(StridedLoop& to, const StridedLoop& from, int d) {
  append(to, from.size[d], from.y[d], from.a[d], from.b[d]);
}

struct Offsets { int64_t y, a, b; };

// The offsets of the n-th index. The loop here counts with constants: else `loop` would be copied from the arguments to
// memory. A 64-bit division takes four times as long as a 32-bit one.
__device__ inline Offsets offsets_of(const StridedLoop& loop, int64_t n) {
  Offsets p{0, 0, 0};
  for (int d = StridedLoop::max_dims - 1; d >= 0; --d) {
    if (d >= loop.dims) continue;
    int64_t rest = 0;
    if (d > 0) rest = (n | loop.size[d]) >> 32 ? n / loop.size[d] : int64_t(uint32_t(n) / uint32_t(loop.size[d]));
    const int64_t i = n - rest * loop.size[d];
    p.y += i * loop.y[d], p.a += i * loop.a[d], p.b += i * loop.b[d];
    n = rest;
  }
  return p;
}

struct Plus { static __device__ real of(real a, real b) { return a + b; } };
struct Minus { static __device__ real of(real a, real b) { return a - b; } };
struct Times { static __device__ real of(real a, real b) { return a * b; } };
struct Over { static __device__ real of(real a, real b) { return a / b; } };
struct GreaterEqual { static __device__ real of(real a, real b) { return real(a >= b || a != a); } };
struct Smaller { static __device__ real of(real a, real b) { return a <= b || a != a ? a : b; } };
struct Larger { static __device__ real of(real a, real b) { return a >= b || a != a ? a : b; } };
struct Keep { static __device__ real of(real a, real b) { return b != 0 ? a : real(0); } };
struct Power { static __device__ real of(real a, real b) { return real(::pow(a, b)); } };

template <class F>
__global__ void binary(real* y, const real* a, const real* b, StridedLoop loop, int64_t count) {
  for (const int64_t e : all(count)) {
    const Offsets p = offsets_of(loop, e);
    y[e] = F::of(a[p.a], b[p.b]);
  }
}
template <class F>
void start(real* y, const real* a, const real* b, const StridedLoop& loop) {
  const int64_t count = loop.count();
  launch(binary<F>, blocks_for(count), threads, y, a, b, loop, count);
}

// -- copies ----------------------------------------------------------------------------------------------------------

__global__ void copy_places(Accumulator y, const real* a, StridedLoop loop, int64_t count) {
  for (const int64_t e : all(count)) {
    const Offsets p = offsets_of(loop, e);
    add_to(y, p.y, a[p.a]);
  }
}

constexpr int side = 32;   // side of a tile that is transposed in shared memory

// y_ij (+)= a_ij for all indices of `rest`, where a is contiguous along i and y along j, the two dimensions of ij.
// Without tiles every access would touch a cache line of its own.
__global__ void copy_transposed(Accumulator y, const real* a, StridedLoop rest, StridedLoop ij) {
  SHARED(real, tile, side * (side + 1));                 // rows a bank apart
  const int64_t i_tiles = (ij.size[0] + side - 1) / side, j_tiles = (ij.size[1] + side - 1) / side;
  const int64_t i0 = blockIdx.x % i_tiles * side, j0 = blockIdx.x / i_tiles % j_tiles * side;
  const Offsets p = offsets_of(rest, blockIdx.x / i_tiles / j_tiles);
  const int64_t i_left = ij.size[0] - i0, j_left = ij.size[1] - j0;
  const real* from = a + p.a + i0 * ij.a[0] + j0 * ij.a[1];
  const int x = int(threadIdx.x) % side, first = int(threadIdx.x) / side;
  for (int r = first; r < side; r += threads / side)
    if (x < i_left && r < j_left) tile[r * (side + 1) + x] = from[x * ij.a[0] + r * ij.a[1]];
  __syncthreads();
  for (int r = first; r < side; r += threads / side)
    if (r < i_left && x < j_left)
      add_to(y, p.y + (i0 + r) * ij.y[0] + (j0 + x) * ij.y[1], tile[x * (side + 1) + r]);
}

// -- reductions ------------------------------------------------------------------------------------------------------

// For each index of `kept`, a sum over the indices of `reduced`: added to y, or stored in partial, (splits, count).
// `groups` threads share a sum and meet in shared memory. `along`: neighbouring threads read neighbours along
// `reduced`, else along `kept`, whichever are contiguous in the array.
__global__ void sum_places(Accumulator y, real* partial, const real* a, StridedLoop kept, StridedLoop reduced,
                           int64_t count, int64_t depth, int64_t split_depth, int groups, bool along) {
  SHARED(real, sums, threads);
  const int columns = threads / groups, t = int(threadIdx.x);
  const int column = along ? t / groups : t % columns, group = along ? t % groups : t / columns;
  const int64_t from = blockIdx.y * split_depth, to = from + split_depth < depth ? from + split_depth : depth;
  for (int64_t first = int64_t(blockIdx.x) * columns; first < count; first += int64_t(gridDim.x) * columns) {
    const int64_t k = first + column;
    const Offsets p = offsets_of(kept, k);
    real sum = 0;
    if (k < count)
      for (int64_t i = from + group; i < to; i += groups) sum += a[p.a + offsets_of(reduced, i).a];
    const int mine = group * columns + column;
    sums[mine] = sum;
    __syncthreads();
    for (int half = groups / 2; half > 0; half /= 2) {
      if (group < half) sums[mine] += sums[mine + half * columns];
      __syncthreads();
    }
    if (group == 0 && k < count) {
      if (partial) partial[blockIdx.y * count + k] = sums[mine];
      else add_to(y, p.y, sums[mine]);
    }
    __syncthreads();
  }
}

// A thread adds 8 to 512 terms; within these limits there are enough blocks to fill a GPU. A second launch of the same
// kernel adds up the splits.
void start_sum(const Accumulator& y, const real* a, const StridedLoop& kept, const StridedLoop& reduced, bool along,
               bool may_split) {
  const int64_t count = kept.count(), depth = reduced.count();
  const int groups = along ? (depth <= 64 ? 8 : depth <= 1024 ? warp : threads) : depth < 64 ? 1 : 8;
  const int blocks = blocks_for(count, threads / groups);
  const int64_t fill = std::min<int64_t>(512 / blocks, pieces_of(depth, 8 * groups));
  int64_t splits = std::max(fill, pieces_of(depth, 512 * groups));
  splits = may_split ? std::clamp<int64_t>(splits, 1, 65535) : 1;
  const int64_t split_depth = pieces_of(depth, splits);
  splits = pieces_of(depth, split_depth);
  real* partial = splits > 1 ? scratch(0, splits * count) : nullptr;
  launch(sum_places, dim3(unsigned(blocks), unsigned(splits)), threads, y, partial, a, kept, reduced, count, depth,
         split_depth, groups, along);
  if (!partial) return;
  StridedLoop rest, split_numbers;
  append(split_numbers, splits, 0, count, 0);
  for (int d = 0; d < kept.dims; ++d) append(rest, kept, d);
  for (int64_t d = rest.dims, step = 1; d-- > 0; step *= rest.size[d]) rest.a[d] = step;
  start_sum(y, partial, rest, split_numbers, count == 1, false);
}

}  // namespace

void add(real* y, const real* a, const real* b, const StridedLoop& loop) { start<Plus>(y, a, b, loop); }
void sub(real* y, const real* a, const real* b, const StridedLoop& loop) { start<Minus>(y, a, b, loop); }
void mul(real* y, const real* a, const real* b, const StridedLoop& loop) { start<Times>(y, a, b, loop); }
void div(real* y, const real* a, const real* b, const StridedLoop& loop) { start<Over>(y, a, b, loop); }
void greater_equal(real* y, const real* a, const real* b, const StridedLoop& loop) {
  start<GreaterEqual>(y, a, b, loop);
}
void minimum(real* y, const real* a, const real* b, const StridedLoop& loop) { start<Smaller>(y, a, b, loop); }
void maximum(real* y, const real* a, const real* b, const StridedLoop& loop) { start<Larger>(y, a, b, loop); }
void keep(real* y, const real* a, const real* b, const StridedLoop& loop) { start<Keep>(y, a, b, loop); }
void pow(real* y, const real* a, const real* b, const StridedLoop& loop) { start<Power>(y, a, b, loop); }

// Every element of y is written once, so the order is free: y is written front to back.
void copy(Accumulator y, const real* a, const StridedLoop& loop) {
  if (!y) return;
  StridedLoop sorted;
  bool taken[StridedLoop::max_dims] = {};
  for (int n = 0; n < loop.dims; ++n) {
    int next = -1;
    for (int d = 0; d < loop.dims; ++d)
      if (!taken[d] && (next < 0 || loop.y[d] > loop.y[next])) next = d;
    taken[next] = true;
    append(sorted, loop, next);
  }
  const int last = sorted.dims - 1;
  for (int d = 0; d < last; ++d)
    if (sorted.a[d] == 1 && sorted.a[last] > 1 && sorted.size[d] >= 8 && sorted.size[last] >= 8) {
      StridedLoop rest, ij;
      for (int e = 0; e < last; ++e)
        if (e != d) append(rest, sorted, e);
      append(ij, sorted, d), append(ij, sorted, last);
      const int64_t tiles = pieces_of(ij.size[0], side) * pieces_of(ij.size[1], side) * rest.count();
      return launch(copy_transposed, unsigned(tiles), threads, y, a, rest, ij);
    }
  launch(copy_places, blocks_for(loop.count()), threads, y, a, sorted, loop.count());
}

void sum(Accumulator y, const real* a, const StridedLoop& loop) {
  if (!y) return;
  StridedLoop kept, reduced;
  for (int d = 0; d < loop.dims; ++d) append(loop.y[d] ? kept : reduced, loop, d);
  if (reduced.dims == 0) return copy(y, a, loop);
  start_sum(y, a, kept, reduced, loop.y[loop.dims - 1] == 0, true);
}

}  // namespace poslab::cuda
