// Shared by the two kernels of a whole encoder block (cuda/encoder_block.cu, encoder_block_backward.cu): a
// thread block takes one sequence from end to end, and everything between two layers stays in its shared memory.
//
// Shared memory of a block, in Fours, for T slots with Tq queries (T = Tq = 80, with r: 147,488 bytes forward,
// 179,488 backward; docs/gpu.md draws them):
//
//   matrix 0 | matrix 1 | ... | tile of weights | r (2T+2, C) | biases (H, 2T+2) | figures of the rows (H, Tq)
//   T x 17     T x 17           64 x 16           if there is    if there are      in the backward pass
//
// A matrix holds a row of C = 64 channels for each slot; its contents change as the block goes on. A product is a
// matrix times a tile of 64 x 64 weights, which all threads load; its results stay in registers until all have read.
#pragma once
#include <type_traits>
#include <utility>

#include "cuda/driver.h"
#include "cuda/dropout.cuh"
#include "cuda/logits.cuh"
#include "cuda/norm_row.cuh"
#include "cuda/product_tile.cuh"

namespace poslab::cuda {

constexpr int block_width = 64, block_heads = block_width / lane_channels;   // a head has 8 channels
constexpr int fours_of_row = block_width / 4, tile_rows = 16;                // tile_rows: a warp's rows of a product
constexpr int most_block_threads = 512;
constexpr int forward_matrices = 4, backward_matrices = 5, tail_matrices = 3;    // in shared memory at once

// -- where numbers lie ------------------------------------------------------------------------------------------------

// Rows of slots lie one Four further apart than they are long: so neither lanes that read rows of their own have bank
// conflicts, nor the lanes of a tensor core, which read every other four of two rows.
constexpr int pitch = fours_of_row + 1;
struct Matrix {
  int first;                       // its first Four
  __device__ int place(int row, int four) const { return first + row * pitch + four; }
};

struct BlockFrame {
  int offset = 0, queries = 0, keys = 0;   // query i is in slot offset + i
  int query_rows = 0, key_rows = 0;        // rounded up to whole tiles
  int rows = 0;                            // of a matrix
  int table_rows = 0;                      // rows of r and of biases; the last ones are zeros that no query reads
  int tile = 0, r = 0, biases = -1, figures = 0, fours = 0;     // where each begins, in Fours; fours: all together
  bool whole = false;                      // whether parameters are aligned as Fours must be
  FIELDS(BlockFrame, offset, queries, keys, query_rows, key_rows, rows, table_rows, tile, r, biases, figures, fours,
         whole)
  __host__ __device__ Matrix matrix(int n) const { return {n * rows * pitch}; }
  int threads() const { return larger(256, larger(query_rows, key_rows) / tile_rows * 2 * warp); }
  int bytes() const { return fours * int(sizeof(Four)); }
};
// Parameters follow each other in one buffer: after one whose size is no multiple of 4, the next are unaligned.
inline bool whole_parameters(const BlockArgs& x) {
  for (const real* at : {x.query, x.key, x.value, x.output, x.gain1, x.bias1, x.gain2, x.bias2, x.w1, x.b1, x.w2, x.b2,
                         x.attention.q_bias, x.attention.q_rel_bias})
    if (!aligned(at)) return false;
  return true;
}
inline BlockFrame frame_of(const BlockArgs& x, int matrices, bool backward) {
  const AttentionArgs& a = x.attention;
  BlockFrame f{.offset = a.offset, .queries = a.queries, .keys = a.keys, .whole = whole_parameters(x)};
  f.query_rows = ceil_div(a.queries, tile_rows) * tile_rows, f.key_rows = ceil_div(a.keys, tile_rows) * tile_rows;
  f.rows = larger(f.key_rows, f.offset + f.query_rows);
  if (a.r || a.bias) f.table_rows = a.rows + keys_at_once - 1;
  const auto take = [&](int fours) { return std::exchange(f.fours, f.fours + fours); };
  take(matrices * f.rows * pitch);
  f.tile = take(block_width * fours_of_row);
  if (a.r) f.r = take(f.table_rows * pitch);
  if (a.bias) f.biases = take(f.table_rows * block_heads);
  if (backward) f.figures = take(f.query_rows * block_heads);
  return f;
}

// Where the second half of a block is a kernel of its own, a thread block takes rows of any sequences: whole tiles, few
// enough that each of an H100's multiprocessors has one thread block, and no more than a thread block may have.
inline BlockFrame tail_frame(const BlockArgs& x) {
  constexpr int most_by_threads = most_block_threads / (2 * warp) * tile_rows;
  constexpr int tile_fours = block_width * fours_of_row;
  const int free_fours = driver::shared_memory() / int(sizeof(Four)) - tile_fours;
  const int most = smaller(most_by_threads, free_fours / (tail_matrices * pitch) / tile_rows * tile_rows);
  const int own = smaller(most, ceil_div(ceil_div(x.attention.queries, multiprocessors), tile_rows) * tile_rows);
  BlockFrame f{.queries = own, .keys = own, .query_rows = own, .key_rows = own, .rows = own};
  f.whole = whole_parameters(x);
  f.tile = tail_matrices * own * pitch, f.fours = f.tile + tile_fours;
  return f;
}
inline unsigned tail_blocks(const BlockFrame& f, int rows) { return unsigned(ceil_div(rows, f.queries)); }

// The query rows of this thread block, in memory.
struct QueryRows { int64_t first; int count; };
__device__ inline QueryRows rows_of_block(const BlockFrame& f, int all) {
  const int first = int(blockIdx.x) * f.queries;
  return {first, smaller(f.queries, all - first)};
}

// Fills `rows` rows of a matrix from x, (n, C) in memory, whose row 0 goes to row `first`; other rows are zeros.
template <class Pool>
__device__ inline void read_matrix(Pool& pool, Matrix to, const real* x, int first, int n, int rows) {
  for (int e = int(threadIdx.x); e < rows * fours_of_row; e += int(blockDim.x)) {
    const int row = e / fours_of_row, c = e % fours_of_row, at = row - first;
    pool[to.place(row, c)] = at >= 0 && at < n ? four(x + int64_t(at) * block_width, 4 * c, block_width, true) : Four{};
  }
}
template <class Pool>
__device__ inline Eight head_of(Pool& pool, Matrix m, int row, int head) {
  const Four low = pool[m.place(row, 2 * head)], high = pool[m.place(row, 2 * head + 1)];
  return {low, high};
}
template <class Pool>
__device__ inline void put_head(Pool& pool, Matrix m, int row, int head, const Eight& x) {
  pool[m.place(row, 2 * head)] = x.low, pool[m.place(row, 2 * head + 1)] = x.high;
}

// -- products ---------------------------------------------------------------------------------------------------------

// 64 x 64 weights of a matrix with `line` columns, or their transpose.
struct WeightSquare {
  const real* at = nullptr;        // null: none
  int line = 0;
  bool transposed = false;
};
// Where a four of row k lies in the tile, so that neither lanes that read neighbouring fours have bank conflicts, nor
// lanes that read two fours of every eighth row.
__device__ inline int tile_place(int k, int four) { return k * fours_of_row + (four ^ (k / 8 % 4 * 2)); }

// The results of a warp: 16 rows and half of the columns, four Fours a lane, in the layout that each struct states.
struct PlainSums {                 // on CUDA cores: four rows, each with a four of columns
  Four sum[4] = {};
  static __device__ int row(int n) {
    return int(threadIdx.x) / (2 * warp) * tile_rows + int(threadIdx.x) % warp / 8 + 4 * n;
  }
  static __device__ int column(int) { return int(threadIdx.x) / warp % 2 * 8 + int(threadIdx.x) % 8; }     // in fours
  __device__ Four get(int n) const { return sum[n]; }
  template <class Pool>
  __device__ void add_product(Pool& pool, Matrix a, int from, int tile) {
    const int first = a.place(from + row(0), 0);
    for (int k = 0; k < fours_of_row; k += 2) {                // two fours of a: 8 tile rows lie the same way
      const int eight_rows = tile + tile_place(4 * k, column(0));
      UNROLL for (int part = 0; part < 2; ++part) {
        Four left[4];
        for (int n = 0; n < 4; ++n) left[n] = pool[first + 4 * n * pitch + k + part];
        for (int e = 0; e < 4; ++e) {
          const Four right = pool[eight_rows + (4 * part + e) * fours_of_row];
          for (int n = 0; n < 4; ++n) add_scaled(sum[n], left[n].c[e], right);
        }
      }
    }
  }
};

// On tensor cores, 16 x 8 x 8 at a time. As in cuda/product_tile.cuh, column v of a four belongs to tile v, and indices
// of the sum are assigned so that both factors are read in Fours: of 32, lane t has 8t .. 8t + 7.
template <Rounding how>
struct TensorSums {
  float c[4][4] = {};
  static __device__ int lane() { return int(threadIdx.x) % warp; }
  static __device__ int half() { return int(threadIdx.x) / warp % 2 * 8; }
  static __device__ int row(int n) { return int(threadIdx.x) / (2 * warp) * tile_rows + lane() / 4 + n / 2 * 8; }
  static __device__ int column(int n) { return half() + lane() % 4 * 2 + n % 2; }
  __device__ Four get(int n) const { return {{real(c[0][n]), real(c[1][n]), real(c[2][n]), real(c[3][n])}}; }
  template <class Pool>
  __device__ void add_product(Pool& pool, Matrix a, int from, int tile) {
    const int t = lane() % 4, first = a.place(from + row(0), 2 * t);
    const int eight_rows = tile + tile_place(8 * t, half() + lane() / 4);
    for (int k = 0; k < fours_of_row; k += 8)                  // 32 rows of the tile
      UNROLL for (int part = 0; part < 2; ++part) {
        const Four upper = pool[first + k + part], lower = pool[first + 8 * pitch + k + part];
        Four right[4];
        for (int e = 0; e < 4; ++e) right[e] = pool[eight_rows + (4 * k + 4 * part + e) * fours_of_row];
        for (int e = 0; e < 4; e += 2) {
          const float left[4] = {float(upper.c[e]), float(lower.c[e]), float(upper.c[e + 1]), float(lower.c[e + 1])};
          for (int v = 0; v < 4; ++v) {
            const float two[2] = {float(right[e].c[v]), float(right[e + 1].c[v])};
            if constexpr (how == Rounding::tf32)                 // the tile is rounded already
              multiply_add(c[v], {to_tf32(left[0]), to_tf32(left[1]), to_tf32(left[2]), to_tf32(left[3])}, two);
            else
              add_rounded<how>(c[v], left, two);
          }
        }
      }
  }
};
template <Rounding how>
using BlockSums = std::conditional_t<how == Rounding::fp32, PlainSums, TensorSums<how>>;

// The one tile of weights in shared memory, and the next one, which is on its way in registers: 4 x 4 weights a thread.
// For TF32 weights are rounded here, once, and not by every warp that reads them.
template <Rounding how, class Pool>
struct WeightStream {
  Pool& pool;
  int tile;
  bool whole, transposed = false;
  Four x[4] = {};

  __device__ WeightStream(Pool& pool_, const BlockFrame& f, const WeightSquare& first)
      : pool(pool_), tile(f.tile), whole(f.whole) {
    fetch(first);
  }
  __device__ static bool brings() { return threadIdx.x < fours_of_row * fours_of_row; }
  __device__ void fetch(const WeightSquare& w) {
    if (!w.at || !brings()) return;
    transposed = w.transposed;
    const int line = int(threadIdx.x) / fours_of_row * 4, along = int(threadIdx.x) % fours_of_row * 4;
    for (int r = 0; r < 4; ++r) x[r] = four(w.at + int64_t(line + r) * w.line, along, along + 4, whole);
  }
  __device__ void put() {
    if (!brings()) return;
    if constexpr (how == Rounding::tf32)
      for (Four& four : x)
        for (real& number : four.c) number = to_tf32(float(number));
    const int line = int(threadIdx.x) / fours_of_row, along = int(threadIdx.x) % fours_of_row;
    for (int e = 0; e < 4; ++e) {
      const Four column{{x[0].c[e], x[1].c[e], x[2].c[e], x[3].c[e]}};
      pool[tile + (transposed ? tile_place(4 * along + e, line) : tile_place(4 * line + e, along))] =
          transposed ? column : x[e];
    }
  }
  // sums += a w for rows from .. from + rows - 1 of a, where w is the tile that was fetched last; `next` is fetched
  // meanwhile. All threads must call it. Their earlier writes, a too, are read after a barrier; and after the barrier
  // of the next product no thread reads the a of this one.
  template <class Sums>
  __device__ void multiply(Sums& sums, Matrix a, int from, int rows, const WeightSquare& next) {
    __syncthreads();
    put();
    __syncthreads();
    fetch(next);
    if (sums.row(0) < rows) sums.add_product(pool, a, from, tile);
  }
};

// Calls f(row, four of columns, sums) for each Four of results that this lane has in the first `rows` rows.
template <class Sums, class F>
__device__ inline void each_result(const Sums& sums, int rows, const F& f) {
  UNROLL for (int n = 0; n < 4; ++n)
    if (sums.row(0) < rows) f(sums.row(n), sums.column(n), sums.get(n));
}

// -- attention --------------------------------------------------------------------------------------------------------

// Rotates the pairs of 8 channels by the angles of a slot, or back: see the kernel `rotate`.
__device__ inline Eight rotated(const BlockArgs& x, int b, int slot, const Eight& y, bool back) {
  if (!x.cosine) return y;
  const int64_t at = (int64_t(x.rotation_batch == 1 ? 0 : b) * x.attention.keys + slot) * (lane_channels / 2);
  const Four cosine = four(x.cosine + at, 0, 4, true);
  Four sine = four(x.sine + at, 0, 4, true);
  for (int e = 0; e < 4; ++e) sine.c[e] = back ? -sine.c[e] : sine.c[e];
  Eight z;
  for (int m = 0; m < 4; ++m) {
    if (x.interleaved) {
      const Four& pairs = m < 2 ? y.low : y.high;
      Four& to = m < 2 ? z.low : z.high;
      const int e = m % 2 * 2;
      to.c[e] = pairs.c[e] * cosine.c[m] - pairs.c[e + 1] * sine.c[m];
      to.c[e + 1] = pairs.c[e] * sine.c[m] + pairs.c[e + 1] * cosine.c[m];
    } else {
      z.low.c[m] = y.low.c[m] * cosine.c[m] - y.high.c[m] * sine.c[m];
      z.high.c[m] = y.low.c[m] * sine.c[m] + y.high.c[m] * cosine.c[m];
    }
  }
  return z;
}
// bias + y of a head, scaled; bias: (H, 8) or null
__device__ inline Eight biased(const Eight& y, const real* bias, int head, real scale, bool whole) {
  Eight sum = y;
  if (bias) add_scaled(sum, 1, eight(bias, head * lane_channels, block_width, whole));
  multiply(sum, scale);
  return sum;
}
// scale (q_rel_bias - q_bias), which turns scale (q + q_bias) into scale (q + q_rel_bias)
__device__ inline Eight bias_difference(const AttentionArgs& a, int head, bool whole) {
  Eight y = biased({}, a.q_rel_bias, head, a.scale, whole);
  if (a.q_bias) add_scaled(y, -a.scale, eight(a.q_bias, head * lane_channels, block_width, whole));
  return y;
}
// Reads r and the biases of all rows.
template <bool relative, class Pool>
__device__ inline void read_tables(Pool& pool, const BlockFrame& f, const AttentionArgs& a) {
  if constexpr (relative) read_matrix(pool, Matrix{f.r}, a.r, 0, a.rows, f.table_rows);
  if (f.biases < 0) return;
  for (int e = int(threadIdx.x); e < f.table_rows * block_heads; e += int(blockDim.x)) {
    const int row = e / block_heads, head = e % block_heads;
    pool[f.biases + head * f.table_rows + row] = Four{{row < a.rows ? a.bias[e] : real(0), 0, 0, 0}};
  }
}
// scale q . k + scale q_rel . r + bias, where both queries are scaled already; r and bias: of this row of the table
template <bool relative, class Pool>
__device__ inline real block_logit(Pool& pool, const BlockFrame& f, int head, int row, const Eight& q, const Eight& k,
                                   const Eight& q_rel, const Eight& r) {
  real s = dots<relative>(q, k, q_rel, r);
  if (f.biases >= 0) s += Four(pool[f.biases + head * f.table_rows + row]).c[0];
  return s;
}

// -- norms ------------------------------------------------------------------------------------------------------------

// A row of a norm is the work of 8 neighbouring lanes, each with 8 channels, for which one Philox call decides. Calls
// body(i, lane) for each of the block's query rows in turn. The other lanes of the warp must call it, too.
template <class F>
__device__ inline void each_norm_row(const BlockFrame& f, const F& body) {
  for (int i = int(threadIdx.x) / 8; i < f.query_rows; i += int(blockDim.x) / 8) body(i, int(threadIdx.x) % 8);
}
template <class F>
__device__ inline Eight map(const Eight& a, const Eight& b, const F& f) {
  Eight y;
  for (int e = 0; e < 4; ++e) y.low.c[e] = f(a.low.c[e], b.low.c[e]), y.high.c[e] = f(a.high.c[e], b.high.c[e]);
  return y;
}
__device__ inline real sum_of(const Eight& x) {
  real sum = 0;
  for (int e = 0; e < 4; ++e) sum += x.low.c[e];
  for (int e = 0; e < 4; ++e) sum += x.high.c[e];
  return sum;
}
// (x - mean) / std of a row, for this lane's x, and 1 / std
struct NormedRow { Eight h; real inverse; };
__device__ inline NormedRow normed(const Eight& x) {
  const real mean = team_sum<8>(sum_of(x)) / block_width;
  const Eight off = map(x, x, [&](real v, real) { return v - mean; });
  const real inverse = 1 / std::sqrt(team_sum<8>(dot(off, off)) / block_width + layer_norm_epsilon);
  return {map(off, off, [&](real v, real) { return v * inverse; }), inverse};
}
// keep / (1 - rate) of elements first .. first + 7; first is a multiple of 8
__device__ inline Eight dropout_factors(const DropoutArgs& d, int64_t first) {
  const uint32_t bits = d.stream ? Factors<8>::keep_bits(uint64_t(first / 8), *d.stream, d.threshold) : 0xFF;
  const real scale = d.stream ? d.scale : real(1);
  Eight y;
  for (int e = 0; e < 4; ++e) {
    y.low.c[e] = bits >> e & 1 ? scale : real(0), y.high.c[e] = bits >> (4 + e) & 1 ? scale : real(0);
  }
  return y;
}

// The arguments of a launch, without the streams of dropout: these differ in each step and are uploaded (DropoutArgs).
inline BlockArgs without_streams(BlockArgs x) {
  x.dropout1 = x.dropout2 = {};
  return x;
}

Rounding matmul_in_use();            // cuda/product.cu

// Calls f.template operator()<how, relative>(); how: the rounding of products; relative: whether there is an r.
template <class F>
void for_block_form(bool relative, const F& f) {
  const auto with = [&]<Rounding how>() {
    relative ? f.template operator()<how, true>() : f.template operator()<how, false>();
  };
  switch (matmul_in_use()) {
    case Rounding::fp32: return with.template operator()<Rounding::fp32>();
    case Rounding::tf32x3: return with.template operator()<Rounding::tf32x3>();
    case Rounding::tf32: return with.template operator()<Rounding::tf32>();
    case Rounding::bf16: return with.template operator()<Rounding::bf16>();
  }
}

}  // namespace poslab::cuda
