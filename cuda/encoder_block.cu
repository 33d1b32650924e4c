// A whole post-norm encoder block in one launch, forward (BlockArgs in core/kernels.h; formulas in nn/block.h). A
// thread block takes one sequence: see cuda/encoder_block.cuh for how it lies in shared memory. Where attention has
// kernels of its own, the second half of this kernel is a separate kernel, whose blocks have rows of any sequences.
//
//   q, k, v = x Wq, x Wk, x Wv     o_i = sum_j a_ij v_j     s1 = x + dropout(o Wo)           h = norm(s1)
//   hidden = max(h W1 + b1, 0)                              s2 = h + dropout(hidden W2 + b2)  y = norm(s2)
//
// The contents of each matrix in shared memory, from left to right:
//
//   0: x ................................ h ................    2: k ....... z1, hidden W2
//   1: q ... o ........... 64 of hidden ....................    3: v .......
#include "cuda/encoder_block.cuh"

namespace poslab::cuda {
namespace {

// Writes o in place of q: only one thread reads a query. Keys are read a few at a time, as in cuda/attention.cu.
template <bool relative, class Pool>
__device__ inline void attend_in_block(Pool& pool, const BlockFrame& f, const BlockArgs& x, const BlockKept& kept,
                                       int b, Matrix queries, Matrix keys, Matrix values) {
  const AttentionArgs& a = x.attention;
  for (int n = int(threadIdx.x); n < block_heads * f.query_rows; n += int(blockDim.x)) {
    const int head = n / f.query_rows, i = n % f.query_rows, slot = f.offset + i;
    if (i >= f.queries) continue;
    const Eight own = rotated(x, b, slot, head_of(pool, queries, slot, head), false);
    const Eight q = biased(own, a.q_bias, head, a.scale, f.whole);
    Eight q_rel{};
    if constexpr (relative) q_rel = biased(own, a.q_rel_bias, head, a.scale, f.whole);
    RunningSoftmax row;
    const int end = a.causal ? smaller(slot + 1, f.keys) : f.keys, first_row = row_of_distance_0(a) - i;
    for (int j = 0; j < end; j += keys_at_once) {
      real s[keys_at_once];
      for (int u = 0; u < keys_at_once; ++u) {
        Eight r{};
        if constexpr (relative) r = head_of(pool, Matrix{f.r}, first_row + j + u, head);
        s[u] = block_logit<relative>(pool, f, head, first_row + j + u, q, head_of(pool, keys, j + u, head), q_rel, r);
        if (j + u >= end) s[u] = -INFINITY;
      }
      row.add(s, [&](int u) { return head_of(pool, values, j + u, head); });
    }
    multiply(row.sum, 1 / row.z);
    put_head(pool, queries, slot, head, row.sum);
    if (!kept.q) continue;
    const int64_t at = int64_t(b) * f.queries + i;
    put(kept.q + at * block_width, true, head * lane_channels, block_width, true, own);
    put(kept.mixed + at * block_width, true, head * lane_channels, block_width, true, row.sum);
    real* const stats = kept.stats + 2 * ((int64_t(b) * block_heads + head) * f.queries + i);
    stats[0] = row.max, stats[1] = 1 / row.z;
  }
}

// Computes norm(s), s = x + dropout(z), of the queries' rows, in x's place or into y in memory. s and the norm are kept
// if they are wanted.
template <class Pool>
__device__ inline void norm_of_rows(Pool& pool, const BlockFrame& f, const QueryRows& own, Matrix x, Matrix z,
                                    const real* gain, const real* bias, const DropoutArgs& drop, real* s_kept, real* y,
                                    bool in_place) {
  each_norm_row(f, [&](int i, int lane) {
    const int slot = f.offset + i, c = lane * lane_channels;
    const int64_t at = (own.first + i) * block_width;
    Eight s = head_of(pool, x, slot, lane);                    // channels 8 lane .. 8 lane + 7
    const Eight more = head_of(pool, z, slot, lane), factor = dropout_factors(drop, at + c);
    s = map(s, map(more, factor, [](real v, real k) { return v * k; }), [](real v, real w) { return v + w; });
    const auto times = [](real v, real w) { return v * w; };
    const auto plus = [](real v, real w) { return v + w; };
    const Eight scaled = map(normed(s).h, eight(gain, c, block_width, f.whole), times);
    const Eight normed_row = map(scaled, eight(bias, c, block_width, f.whole), plus);
    if (in_place) put_head(pool, x, slot, lane, normed_row);
    if (i >= own.count) return;
    if (s_kept) put(s_kept + at, true, c, block_width, true, s);
    if (y) put(y + at, true, c, block_width, true, normed_row);
  });
}

// Everything after attention: y from x in matrix 0 and o in matrix 1; Wo is the tile that comes next. Uses matrix 2.
template <Rounding how, class Pool>
__device__ inline void behind_attention(Pool& pool, WeightStream<how, Pool>& weights, const BlockFrame& f,
                                        const BlockArgs& x, const BlockKept& kept, const QueryRows& own, real* y,
                                        const DropoutArgs& drop1, const DropoutArgs& drop2) {
  using Sums = BlockSums<how>;
  constexpr int C = block_width;
  const Matrix m0 = f.matrix(0), m1 = f.matrix(1), m2 = f.matrix(2);
  {
    Sums sums;
    weights.multiply(sums, m1, f.offset, f.query_rows, {x.w1, x.d_ff});
    each_result(sums, f.query_rows, [&](int row, int c, const Four& z) { pool[m2.place(f.offset + row, c)] = z; });
  }
  __syncthreads();
  norm_of_rows(pool, f, own, m0, m2, x.gain1, x.bias1, drop1, kept.s1, kept.h, true);

  Sums sums;
  for (int s = 0; s < x.d_ff; s += C) {                        // 64 hidden channels at a time
    Sums hidden;
    weights.multiply(hidden, m0, f.offset, f.query_rows, {x.w2 + int64_t(s) * C, C});
    each_result(hidden, f.query_rows, [&](int row, int c, Four z) {
      add_scaled(z, 1, four(x.b1 + s, 4 * c, C, f.whole));
      for (int e = 0; e < 4; ++e) z.c[e] = z.c[e] < 0 ? 0 : z.c[e];          // NaN stays
      pool[m1.place(f.offset + row, c)] = z;
      if (kept.hidden && row < own.count) put(kept.hidden + (own.first + row) * x.d_ff + s, true, 4 * c, C, true, z);
    });
    const bool more = s + C < x.d_ff;
    weights.multiply(sums, m1, f.offset, f.query_rows, {more ? x.w1 + s + C : nullptr, x.d_ff});
  }
  each_result(sums, f.query_rows, [&](int row, int c, Four z) {
    add_scaled(z, 1, four(x.b2, 4 * c, C, f.whole));
    pool[m2.place(f.offset + row, c)] = z;
  });
  __syncthreads();
  norm_of_rows(pool, f, own, m0, m2, x.gain2, x.bias2, drop2, kept.s2, y, false);
}

template <Rounding how, bool relative>
__global__ void __launch_bounds__(most_block_threads)
    block_forward(real* y, const BlockKept kept, const BlockArgs x, const BlockFrame f, const DropoutArgs drop1,
                  const DropoutArgs drop2) {
  SHARED_OF_LAUNCH(Four, pool);
  using Sums = BlockSums<how>;
  const int b = int(blockIdx.x), C = block_width;
  const Matrix m0 = f.matrix(0), m1 = f.matrix(1), m2 = f.matrix(2), m3 = f.matrix(3);
  const int64_t first_key = int64_t(b) * f.keys, first_query = int64_t(b) * f.queries;
  WeightStream<how, std::remove_reference_t<decltype(pool)>> weights(pool, f, {x.query, C});
  read_matrix(pool, m0, x.x + first_key * C, 0, f.keys, f.rows);
  read_tables<relative>(pool, f, x.attention);

  // to = m0 w, rows of the slots; k and v are kept
  const auto project = [&](Matrix to, real* keep, int from, int rows, const WeightSquare& next) {
    Sums sums;
    weights.multiply(sums, m0, from, rows, next);
    each_result(sums, rows, [&](int row, int c, const Four& z) {
      pool[to.place(from + row, c)] = z;
      if (keep && row < f.keys) put(keep + (first_key + row) * C, true, 4 * c, C, true, z);
    });
  };
  project(m1, nullptr, f.offset, f.query_rows, {x.key, C});
  project(m2, x.cosine ? nullptr : kept.k, 0, f.key_rows, {x.value, C});
  project(m3, kept.v, 0, f.key_rows, {x.output, C});
  __syncthreads();
  if (x.cosine) {
    for (int n = int(threadIdx.x); n < block_heads * f.keys; n += int(blockDim.x)) {
      const int head = n / f.keys, slot = n % f.keys;
      const Eight k = rotated(x, b, slot, head_of(pool, m2, slot, head), false);
      put_head(pool, m2, slot, head, k);
      if (kept.k) put(kept.k + (first_key + slot) * C, true, head * lane_channels, C, true, k);
    }
    __syncthreads();
  }
  attend_in_block<relative>(pool, f, x, kept, b, m1, m2, m3);

  behind_attention<how>(pool, weights, f, x, kept, {first_query, f.queries}, y, drop1, drop2);
}

template <Rounding how>
__global__ void __launch_bounds__(most_block_threads)
    tail_forward(real* y, const real* mixed, const BlockKept kept, const BlockArgs x, const BlockFrame f,
                 const DropoutArgs drop1, const DropoutArgs drop2) {
  SHARED_OF_LAUNCH(Four, pool);
  const QueryRows own = rows_of_block(f, x.attention.queries);
  WeightStream<how, std::remove_reference_t<decltype(pool)>> weights(pool, f, {x.output, block_width});
  read_matrix(pool, f.matrix(0), x.x + own.first * block_width, 0, own.count, f.rows);
  read_matrix(pool, f.matrix(1), mixed + own.first * block_width, 0, own.count, f.rows);
  behind_attention<how>(pool, weights, f, x, kept, own, y, drop1, drop2);
}

}  // namespace

// Blocks of sizes that the kernels are not written for, or that exceed a block's memory, are computed op by op.
bool encoder_block_fits(const BlockArgs& x) {
  const AttentionArgs& a = x.attention;
  const bool sizes = a.heads == block_heads && a.kv_heads == block_heads && a.head_dim == lane_channels &&
                     a.value_dim == lane_channels && (!a.r || a.rel_dim == lane_channels) && x.d_ff % block_width == 0;
  if (!sizes || !is_plain(a) || a.pairs || a.offset != a.keys - a.queries) return false;
  for (const real* at : {x.x, x.cosine, x.sine, a.r})
    if (!aligned(at)) return false;
  const BlockFrame f = frame_of(x, backward_matrices, true);     // the backward pass needs more memory
  return f.threads() <= most_block_threads && f.bytes() <= driver::shared_memory();
}

bool encoder_tail_fits(const BlockArgs& x) {
  const AttentionArgs& a = x.attention;
  if (a.heads * a.head_dim != block_width || x.d_ff % block_width || !aligned(x.x)) return false;
  return tail_frame(x).bytes() <= driver::shared_memory();
}

void encoder_tail(real* y, const real* mixed, const BlockKept& kept, const BlockArgs& args) {
  const BlockArgs x = without_streams(args);
  const BlockFrame f = tail_frame(x);
  const DropoutArgs drop1 = dropout_args(args.dropout1), drop2 = dropout_args(args.dropout2);
  for_block_form(false, [&]<Rounding how, bool>() {
    launch(tail_forward<how>, tail_blocks(f, x.attention.queries), BlockSize(f.threads(), f.bytes()), y, mixed, kept, x,
           f, drop1, drop2);
  });
}

void encoder_block(real* y, const BlockKept& kept, const BlockArgs& args) {
  const BlockArgs x = without_streams(args);
  const BlockFrame f = frame_of(x, forward_matrices, false);
  const DropoutArgs drop1 = dropout_args(args.dropout1), drop2 = dropout_args(args.dropout2);
  for_block_form(x.attention.r, [&]<Rounding how, bool relative>() {
    launch(block_forward<how, relative>, unsigned(x.attention.batch), BlockSize(f.threads(), f.bytes()), y, kept, x, f,
           drop1, drop2);
  });
}

}  // namespace poslab::cuda
