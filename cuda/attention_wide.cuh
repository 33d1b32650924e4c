// How the kernels of cuda/attention_wide.cu multiply: rows in shared memory, and tiles of pairs in registers.
//
// A block has 64 rows of its own, 16 per warp; other rows come by in tiles: keys if its own are queries, and queries
// if its own are keys. For 16 own and 8 other rows the tensor core leaves four pairs with each lane, as `multiply_add`
// in cuda/tensor_cores.cuh says; docs/gpu.md draws them:
//
//   lane 4g + t      pairs[m][e]: own row g + 8 (e / 2), row 8m + 2t + e % 2 of the tile
//
// In this layout the pairs are a factor of the next product: its sum over the tile's rows may go in any order, so index
// t of the sum is row 2t, and index t + 4 is row 2t + 1.
#pragma once
#include "cuda/logits.cuh"
#include "cuda/tensor_cores.cuh"

namespace poslab::cuda::wide {

constexpr int own_rows = 64, block_threads = own_rows / 16 * warp;
// The length of a row of W channels in shared memory. It is 4 modulo 8, so that neither of the two products below has
// bank conflicts.
template <int W>
constexpr int line = W + 4;

namespace {

template <class Pool>
__device__ inline float number(Pool& pool, int at) {
#ifdef POSLAB_EMULATE
  return float(Four(pool[at / 4]).c[at % 4]);
#else
  return reinterpret_cast<const float*>(&pool[0])[at];
#endif
}

// Copies `rows` rows to index `at`: n channels of `count` rows, the first row at `from` and each next one `step`
// further; zeros in other rows and channels. The copy is complete after arrived() and a barrier.
template <int W, class Pool>
__device__ inline void bring_rows(Pool& pool, int at, int rows, const real* from, int64_t step, int count, int n,
                                  bool whole) {
  constexpr int fours = W / 4;
  for (int e = int(threadIdx.x); e < rows * fours; e += block_threads) {
    const int r = e / fours, f = e % fours, to = (at + r * line<W>) / 4 + f;
    const bool there = r < count;
    if (there && whole && 4 * f < n) bring(pool, to, from + r * step + 4 * f);
    else pool[to] = there ? four(from + r * step, 4 * f, n, whole) : Four{};
  }
}

// pairs += own tile^T: the warp's 16 rows at index `own`, 8 N rows at `tile`
template <Rounding how, int W, int N, class Pool>
__device__ inline void multiply_rows(float (&pairs)[N][4], Pool& pool, int own, int tile) {
  const int lane = int(threadIdx.x) % warp, at = lane / 4 * line<W> + lane % 4;
  own += at, tile += at;
  UNROLL_2 for (int c = 0; c < W; c += 8) {
    const int low = own + c, high = low + 8 * line<W>;
    const float a[4] = {number(pool, low), number(pool, high), number(pool, low + 4), number(pool, high + 4)};
    UNROLL for (int m = 0; m < N; ++m) {
      const int b = tile + 8 * m * line<W> + c;
      add_rounded<how>(pairs[m], a, {number(pool, b), number(pool, b + 4)});
    }
  }
}

// sums += pairs tile; a lane has channels 8w + 2t and 8w + 2t + 1 of its two rows
template <Rounding how, int W, int N, class Pool>
__device__ inline void add_rows(float (&sums)[W / 8][4], const float (&pairs)[N][4], Pool& pool, int tile) {
  const int lane = int(threadIdx.x) % warp;
  tile += lane % 4 * 2 * line<W> + lane / 4;
  UNROLL for (int m = 0; m < N; ++m) {
    const float a[4] = {pairs[m][0], pairs[m][2], pairs[m][1], pairs[m][3]};
    UNROLL for (int w = 0; w < W / 8; ++w) {
      const int b = tile + 8 * m * line<W> + 8 * w;
      add_rounded<how>(sums[w], a, {number(pool, b), number(pool, b + line<W>)});
    }
  }
}

// to = or += factor sums, in the lane's two rows, which begin at at[0] and at[1]; -1: there is no such row
template <int W>
__device__ inline void put_rows(const Accumulator& to, const int64_t (&at)[2], int n, const float (&sums)[W / 8][4],
                                const real (&factor)[2]) {
  const int t = int(threadIdx.x) % 4;
  UNROLL for (int w = 0; w < W / 8; ++w)
    UNROLL for (int e = 0; e < 4; ++e) {
      const int c = 8 * w + 2 * t + e % 2;
      if (at[e / 2] >= 0 && c < n) add_to(to, at[e / 2] + c, factor[e / 2] * real(sums[w][e]));
    }
}

// Sum and maximum over the four lanes that share a row.
__device__ inline real row_sum(real x) {
  for (int away = 1; away < 4; away *= 2) x += __shfl_xor_sync(0xFFFFFFFFu, x, away);
  return x;
}
__device__ inline real row_max(real x) {
  for (int away = 1; away < 4; away *= 2) {
    const real other = __shfl_xor_sync(0xFFFFFFFFu, x, away);
    x = other > x ? other : x;
  }
  return x;
}

// p_ij and u_ij of cuda/logits.cuh from q_i . k_j
struct Logit {
  real p, gain, u;
};
__device__ inline Logit logit(const AttentionArgs& x, int b, int head, int i, int j, real product) {
  const real p = x.scale * product;
  if (!x.gain && !x.bias) return {p, 1, p};
  const int64_t pair = pair_row(x, b, i, j) * x.heads + head;
  const real gain = x.gain ? x.gain[pair] : real(1);
  return {p, gain, gain * p + (x.bias ? x.bias[pair] : real(0))};
}

}  // namespace
}  // namespace poslab::cuda::wide
