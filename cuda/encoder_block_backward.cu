// A whole post-norm encoder block in one launch, backward: everything that flows back to its input, with one thread
// block for each sequence (cuda/encoder_block.cuh). The gradients of weights are sums over all sequences: the block
// leaves their factors in memory, and one launch of cuda/product.cu multiplies all six.
//
//   ds2 = d norm(dy)     dz2 = dropout(ds2)     dhidden = dz2 W2^T [hidden > 0]     dh = ds2 + dhidden W1^T
//   ds1 = d norm(dh)     dz1 = dropout(ds1)     do = dz1 Wo^T
//   a_ij = exp(s_ij - max_i) / z_i     du_ij = a_ij (do_i . v_j - delta_i), delta_i = do_i . o_i
//   dq_i = scale sum_j du_ij (k_j + r_ij)       dk_j = scale sum_i du_ij (q_i + u)       dv_j = sum_i a_ij do_i
//   dr_n = scale sum over ij with row n: du_ij (q_i + v)                         dx = ds1 + dq Wq^T + dk Wk^T + dv Wv^T
//
// The logits are computed three times, once for each way to add them up: along the keys, the queries, and the pairs of
// one distance. So each sum has one owner, and no weight is ever stored.
//
// The contents of each matrix in shared memory, from left to right:
//
//   0: ds2 ......... dh, ds1 ......................    3: k ............ dk
//   1: dz2 ......... dz1 ...... scale (q + u) ... dq    4: v ............ dv
//   2:     64 of dhidden ...... do ................
#include "cuda/encoder_block.cuh"

#include "cuda/partial_sums.h"

namespace poslab::cuda {
namespace {

// Arrays that the blocks leave in memory, each for its sequence: factors of the weights' gradients, zeros where a slot
// has no query; and partial sums of the other gradients, each null if it is not wanted.
struct BlockLeft {
  real *dz1 = nullptr, *dz2 = nullptr, *dhidden = nullptr;     // (batch, queries, C), but dhidden (.., d_ff)
  real *dq = nullptr, *dk = nullptr, *dv = nullptr;            // (batch, keys, C)
  real* norms = nullptr;           // (batch, 4, C): of gain1, bias1, gain2, bias2
  real* query_biases = nullptr;    // (batch, query_rows / 16, 2, C): of q_bias, q_rel_bias
  real* r = nullptr;               // (batch, rows, C)
  real* biases = nullptr;          // (batch, rows, H)
  FIELDS(BlockLeft, dz1, dz2, dhidden, dq, dk, dv, norms, query_biases, r, biases)
};

// The figures of a query row that all passes read: max_i, 1 / z_i, delta_i = do_i . o_i.
struct Figures { real max, inverse, delta; };
template <class Pool>
__device__ inline Figures figures_of(Pool& pool, const BlockFrame& f, int head, int i) {
  const Four y = pool[f.figures + head * f.query_rows + i];
  return {y.c[0], y.c[1], y.c[2]};
}
// a_ij and du_ij
struct PairWeight { real a, du; };
__device__ inline PairWeight weight_of(real logit, const Figures& row, const Eight& dy, const Eight& v) {
  const real a = exp(logit - row.max) * row.inverse;
  return {a, a * (dot(dy, v) - row.delta)};
}

// The backward pass of the norm of s and of the dropout before it, with dy = dy_of(i, lane): ds goes to one matrix, dz
// to another and to memory. `sums`: this block's sums for gain and bias, (2, C); warps add up in the memory of the tile
// of weights.
template <class Pool, class F>
__device__ inline void norm_backward_of_rows(Pool& pool, const BlockFrame& f, const QueryRows& own, const real* s,
                                             const real* gain, const DropoutArgs& drop, Matrix ds_to, Matrix dz_to,
                                             real* dz_left, real* sums, const F& dy_of) {
  Eight dgain{}, dbias{};
  each_norm_row(f, [&](int i, int lane) {
    const int c = lane * lane_channels, slot = f.offset + i;
    const int64_t at = (own.first + i) * block_width;
    const bool alive = i < own.count;
    const Eight dy = alive ? dy_of(i, lane) : Eight{};
    const NormedRow row = normed(alive ? eight(s + at, c, block_width, true) : Eight{});
    const Eight dy_h = map(dy, row.h, [](real d, real h) { return d * h; });
    add_scaled(dgain, 1, dy_h), add_scaled(dbias, 1, dy);
    const Eight g = map(dy, eight(gain, c, block_width, f.whole), [](real d, real factor) { return d * factor; });
    const real g_mean = team_sum<8>(sum_of(g)) / block_width, gh_mean = team_sum<8>(dot(g, row.h)) / block_width;
    const Eight ds = map(g, row.h, [&](real v, real h) { return (v - g_mean - h * gh_mean) * row.inverse; });
    const Eight dz = map(ds, dropout_factors(drop, at + c), [](real d, real k) { return d * k; });
    put_head(pool, ds_to, slot, lane, ds), put_head(pool, dz_to, slot, lane, dz);
    if (alive) put(dz_left + at, true, c, block_width, true, dz);
  });
  dgain = sum_over_lanes(dgain, 8, warp / 2), dbias = sum_over_lanes(dbias, 8, warp / 2);  // the rows of a warp
  constexpr int fours_of_warp = 2 * fours_of_row;
  static_assert(most_block_threads / warp * fours_of_warp <= block_width * fours_of_row);
  const int lane = int(threadIdx.x) % warp, own_sums = f.tile + int(threadIdx.x) / warp * fours_of_warp;
  if (lane < 8) {
    pool[own_sums + 2 * lane] = dgain.low, pool[own_sums + 2 * lane + 1] = dgain.high;
    pool[own_sums + fours_of_row + 2 * lane] = dbias.low, pool[own_sums + fours_of_row + 2 * lane + 1] = dbias.high;
  }
  __syncthreads();
  if (threadIdx.x >= fours_of_warp) return;
  Four sum{};
  for (int w = 0; w < int(blockDim.x) / warp; ++w) add_scaled(sum, 1, pool[f.tile + w * fours_of_warp + lane]);
  put(sums, true, 4 * lane, 2 * block_width, true, sum);
}

// Along the keys: dq, and the gradients of the biases of queries.
template <bool relative, class Pool>
__device__ inline void along_keys(Pool& pool, const BlockFrame& f, const BlockArgs& x, const BlockLeft& left, int b,
                                  Matrix queries, Matrix dy_rows, Matrix keys, Matrix values) {
  const AttentionArgs& a = x.attention;
  for (int n = int(threadIdx.x); n < block_heads * f.query_rows; n += int(blockDim.x)) {
    const int head = n / f.query_rows, i = n % f.query_rows, slot = f.offset + i;
    const bool alive = i < f.queries;
    Eight dq{}, dq_rel{};
    if (alive) {
      const Eight q = head_of(pool, queries, slot, head), dy = head_of(pool, dy_rows, slot, head);
      Eight q_rel = q;
      if (relative) add_scaled(q_rel, 1, bias_difference(a, head, f.whole));
      const Figures row = figures_of(pool, f, head, i);
      const int end = a.causal ? smaller(slot + 1, f.keys) : f.keys, first_row = row_of_distance_0(a) - i;
      for (int j = 0; j < end; ++j) {
        const Eight k = head_of(pool, keys, j, head);
        Eight r{};
        if constexpr (relative) r = head_of(pool, Matrix{f.r}, first_row + j, head);
        const real u = block_logit<relative>(pool, f, head, first_row + j, q, k, q_rel, r);
        const real du = weight_of(u, row, dy, head_of(pool, values, j, head)).du;
        add_scaled(dq, du, k);
        if constexpr (relative) add_scaled(dq_rel, du, r);
      }
      multiply(dq, a.scale), multiply(dq_rel, a.scale);
    }
    if (left.query_biases) {
      const int64_t tile = (int64_t(b) * f.query_rows + i) / tile_rows;
      real* const sums = left.query_biases + tile * 2 * block_width;
      // 16 neighbouring lanes have rows of one head.
      const Eight of_q = sum_over_lanes(dq, 1, tile_rows / 2), of_q_rel = sum_over_lanes(dq_rel, 1, tile_rows / 2);
      if (i % tile_rows == 0) {
        put(sums, true, head * lane_channels, block_width, true, of_q);
        put(sums + block_width, true, head * lane_channels, block_width, true, of_q_rel);
      }
    }
    if (!alive) continue;
    add_scaled(dq, 1, dq_rel);
    put(left.dq + (int64_t(b) * f.keys + slot) * block_width, true, head * lane_channels, block_width, true,
        rotated(x, b, slot, dq, true));
  }
}

// Along the queries: dk and dv.
template <bool relative, class Pool>
__device__ inline void along_queries(Pool& pool, const BlockFrame& f, const BlockArgs& x, const BlockLeft& left, int b,
                                     Matrix queries, Matrix dy_rows, Matrix keys, Matrix values) {
  const AttentionArgs& a = x.attention;
  for (int n = int(threadIdx.x); n < block_heads * f.keys; n += int(blockDim.x)) {
    const int head = n / f.keys, j = n % f.keys;
    const Eight k = head_of(pool, keys, j, head), v = head_of(pool, values, j, head);
    Eight dk{}, dv{}, apart{};
    if (relative) apart = bias_difference(a, head, f.whole);
    for (int i = a.causal ? larger(0, j - f.offset) : 0; i < f.queries; ++i) {
      const int slot = f.offset + i, pair = row_of_distance_0(a) + j - i;
      const Eight q = head_of(pool, queries, slot, head), dy = head_of(pool, dy_rows, slot, head);
      Eight r{}, q_rel = q;
      if constexpr (relative) r = head_of(pool, Matrix{f.r}, pair, head), add_scaled(q_rel, 1, apart);
      const real u = block_logit<relative>(pool, f, head, pair, q, k, q_rel, r);
      const PairWeight w = weight_of(u, figures_of(pool, f, head, i), dy, v);
      add_scaled(dk, w.du, q), add_scaled(dv, w.a, dy);
    }
    const int64_t row = (int64_t(b) * f.keys + j) * block_width;
    put(left.dk + row, true, head * lane_channels, block_width, true, rotated(x, b, j, dk, true));
    put(left.dv + row, true, head * lane_channels, block_width, true, dv);
  }
}

// Gradients of r and biases: each row sums over the pairs of its distance.
template <bool relative, class Pool>
__device__ inline void along_distances(Pool& pool, const BlockFrame& f, const AttentionArgs& a, const BlockLeft& left,
                                       int b, Matrix queries, Matrix dy_rows, Matrix keys, Matrix values) {
  for (int n = int(threadIdx.x); n < block_heads * a.rows; n += int(blockDim.x)) {
    const int head = n / a.rows, pair = n % a.rows, distance = pair - row_of_distance_0(a) - f.offset;   // j - slot
    Eight r{}, dr{}, apart{};
    if constexpr (relative) r = head_of(pool, Matrix{f.r}, pair, head), apart = bias_difference(a, head, f.whole);
    real dbias = 0;
    const int end = a.causal && distance > 0 ? 0 : smaller(f.queries, f.keys - distance - f.offset);
    for (int i = larger(0, -distance - f.offset); i < end; ++i) {
      const int slot = f.offset + i, j = slot + distance;
      const Eight q = head_of(pool, queries, slot, head), dy = head_of(pool, dy_rows, slot, head);
      Eight q_rel = q;
      if constexpr (relative) add_scaled(q_rel, 1, apart);
      const real u = block_logit<relative>(pool, f, head, pair, q, head_of(pool, keys, j, head), q_rel, r);
      const real du = weight_of(u, figures_of(pool, f, head, i), dy, head_of(pool, values, j, head)).du;
      add_scaled(dr, du, q_rel), dbias += du;
    }
    const int64_t row = int64_t(b) * a.rows + pair;
    if (left.r) put(left.r + row * block_width, true, head * lane_channels, block_width, true, dr);
    if (left.biases) left.biases[row * block_heads + head] = dbias;
  }
}

// From dy back to attention: ds1 to matrix 0, do to matrix 2; uses matrix 1. W2 is the tile that comes next, and after
// it all Wq, if there is one.
template <Rounding how, class Pool>
__device__ inline void back_to_attention(Pool& pool, WeightStream<how, Pool>& weights, const BlockFrame& f,
                                         const BlockArgs& x, const BlockKept& kept, const BlockLeft& left,
                                         const QueryRows& own, const real* dy, const DropoutArgs& drop1,
                                         const DropoutArgs& drop2) {
  using Sums = BlockSums<how>;
  constexpr int C = block_width;
  const Matrix m0 = f.matrix(0), m1 = f.matrix(1), m2 = f.matrix(2);
  real* const norm_sums = left.norms + int64_t(blockIdx.x) * 4 * C;

  const auto dy_of = [&](int i, int lane) { return eight(dy + (own.first + i) * C, lane * lane_channels, C, true); };
  norm_backward_of_rows(pool, f, own, kept.s2, x.gain2, drop2, m0, m1, left.dz2, norm_sums + 2 * C, dy_of);

  {
    Sums dh;
    for (int s = 0; s < x.d_ff; s += C) {                      // 64 hidden channels at a time
      Sums dhidden;
      weights.multiply(dhidden, m1, f.offset, f.query_rows, {x.w1 + s, x.d_ff, true});
      each_result(dhidden, f.query_rows, [&](int row, int c, Four z) {
        const int64_t at = (own.first + row) * x.d_ff + s;
        if (row < own.count) {
          const Four gate = four(kept.hidden + at, 4 * c, C, true);
          for (int e = 0; e < 4; ++e) z.c[e] = gate.c[e] > 0 ? z.c[e] : 0;
          put(left.dhidden + at, true, 4 * c, C, true, z);
        }
        pool[m2.place(f.offset + row, c)] = z;
      });
      const bool more = s + C < x.d_ff;
      weights.multiply(dh, m2, f.offset, f.query_rows,
                       more ? WeightSquare{x.w2 + int64_t(s + C) * C, C, true} : WeightSquare{x.output, C, true});
    }
    each_result(dh, f.query_rows, [&](int row, int c, Four z) {
      const int at = m0.place(f.offset + row, c);
      add_scaled(z, 1, pool[at]);
      pool[at] = z;
    });
  }
  __syncthreads();
  norm_backward_of_rows(pool, f, own, kept.s1, x.gain1, drop1, m0, m1, left.dz1, norm_sums, [&](int i, int lane) {
    return head_of(pool, m0, f.offset + i, lane);
  });

  {
    Sums d_mixed;
    weights.multiply(d_mixed, m1, f.offset, f.query_rows, {x.query, C, true});
    each_result(d_mixed, f.query_rows, [&](int row, int c, const Four& z) { pool[m2.place(f.offset + row, c)] = z; });
  }
}

template <Rounding how, bool relative>
__global__ void __launch_bounds__(most_block_threads)
    block_backward(const Accumulator dx, const real* dy, const BlockKept kept, const BlockLeft left, const BlockArgs x,
                   const BlockFrame f, const DropoutArgs drop1, const DropoutArgs drop2) {
  SHARED_OF_LAUNCH(Four, pool);
  using Sums = BlockSums<how>;
  const AttentionArgs& a = x.attention;
  const int b = int(blockIdx.x), C = block_width;
  const Matrix m0 = f.matrix(0), m1 = f.matrix(1), m2 = f.matrix(2), m3 = f.matrix(3), m4 = f.matrix(4);
  const int64_t first_key = int64_t(b) * f.keys, first_query = int64_t(b) * f.queries;
  WeightStream<how, std::remove_reference_t<decltype(pool)>> weights(pool, f, {x.w2, C, true});
  read_matrix(pool, m3, kept.k + first_key * C, 0, f.keys, f.rows);
  read_matrix(pool, m4, kept.v + first_key * C, 0, f.keys, f.rows);
  read_tables<relative>(pool, f, a);
  back_to_attention<how>(pool, weights, f, x, kept, left, {first_query, f.queries}, dy, drop1, drop2);
  __syncthreads();
  for (int n = int(threadIdx.x); n < block_heads * f.query_rows; n += int(blockDim.x)) {
    const int head = n / f.query_rows, i = n % f.query_rows, c = head * lane_channels;
    if (i >= f.queries) continue;
    const int64_t at = (first_query + i) * C;
    const Eight q = eight(kept.q + at, c, C, true), o = eight(kept.mixed + at, c, C, true);
    put_head(pool, m1, f.offset + i, head, biased(q, a.q_bias, head, a.scale, f.whole));
    const real* const stats = kept.stats + 2 * ((int64_t(b) * block_heads + head) * f.queries + i);
    pool[f.figures + head * f.query_rows + i] =
        Four{{stats[0], stats[1], dot(head_of(pool, m2, f.offset + i, head), o), 0}};
  }
  __syncthreads();
  along_keys<relative>(pool, f, x, left, b, m1, m2, m3, m4);
  along_queries<relative>(pool, f, x, left, b, m1, m2, m3, m4);
  if (left.r || left.biases) along_distances<relative>(pool, f, a, left, b, m1, m2, m3, m4);
  for (int e = int(threadIdx.x); e < f.offset * C; e += int(blockDim.x)) left.dq[first_key * C + e] = 0;

  // The block reads its own results again: after a barrier all of its threads see them.
  __syncthreads();
  read_matrix(pool, m1, left.dq + first_key * C, 0, f.keys, f.rows);
  read_matrix(pool, m3, left.dk + first_key * C, 0, f.keys, f.rows);
  read_matrix(pool, m4, left.dv + first_key * C, 0, f.keys, f.rows);
  Sums sums;
  weights.multiply(sums, m1, 0, f.key_rows, {x.key, C, true});
  weights.multiply(sums, m3, 0, f.key_rows, {x.value, C, true});
  weights.multiply(sums, m4, 0, f.key_rows, {});
  if (!dx.at) return;
  each_result(sums, f.key_rows, [&](int row, int c, Four z) {
    if (row >= f.keys) return;
    if (row >= f.offset) add_scaled(z, 1, pool[m0.place(row, c)]);
    put(dx.at + (first_key + row) * C, dx.empty, 4 * c, C, true, z);
  });
}

template <Rounding how>
__global__ void __launch_bounds__(most_block_threads)
    tail_backward(const Accumulator dx, const Accumulator d_mixed, const real* dy, const BlockKept kept,
                  const BlockLeft left, const BlockArgs x, const BlockFrame f, const DropoutArgs drop1,
                  const DropoutArgs drop2) {
  SHARED_OF_LAUNCH(Four, pool);
  constexpr int C = block_width;
  const QueryRows own = rows_of_block(f, x.attention.queries);
  WeightStream<how, std::remove_reference_t<decltype(pool)>> weights(pool, f, {x.w2, C, true});
  back_to_attention<how>(pool, weights, f, x, kept, left, own, dy, drop1, drop2);
  __syncthreads();
  const auto write = [&](const Accumulator& to, Matrix m) {
    for (int e = int(threadIdx.x); to.at && e < own.count * fours_of_row; e += int(blockDim.x)) {
      const int row = e / fours_of_row, c = e % fours_of_row;
      put(to.at + (own.first + row) * C, to.empty, 4 * c, C, true, pool[m.place(row, c)]);
    }
  };
  write(dx, f.matrix(0)), write(d_mixed, f.matrix(2));
}

// Computes the gradients of all weights in one launch.
template <int n>
void multiply_together(const int64_t (&rows)[n], const Weights (&all)[n]) {
  int64_t all_tiles = 0;
  for (const Weights& w : all) all_tiles += tiles(w.in, w.out);
  for (int k = 0; k < n; ++k) {
    Weights w = all[k];
    w.beside = all_tiles - tiles(w.in, w.out);
    multiply(rows[k], w);
  }
}
real* taken(real*& from, int64_t n) { return std::exchange(from, from + n); }
void add_up_norms(const BlockGrads& d, const real* sums, int blocks) {
  const Accumulator all[] = {d.gain1, d.bias1, d.gain2, d.bias2};
  for (int n = 0; n < 4; ++n) add_up_later({all[n], sums + n * block_width, block_width, 4 * block_width, blocks});
}

}  // namespace

void encoder_tail_backward(const BlockGrads& d, const Accumulator& d_mixed, const real* dy, const real* mixed,
                           const BlockKept& kept, const BlockArgs& args) {
  const BlockArgs x = without_streams(args);
  const int rows = x.attention.queries, C = block_width;
  const BlockFrame f = tail_frame(x);
  const DropoutArgs drop1 = dropout_args(args.dropout1), drop2 = dropout_args(args.dropout2);
  const int blocks = int(tail_blocks(f, rows));
  BlockLeft left;
  real* memory = scratch(7, 2 * int64_t(rows) * C + int64_t(rows) * x.d_ff);
  left.dz1 = taken(memory, int64_t(rows) * C), left.dz2 = taken(memory, int64_t(rows) * C), left.dhidden = memory;
  left.norms = room_for_sums(int64_t(blocks) * 4 * C);
  for_block_form(false, [&]<Rounding how, bool>() {
    launch(tail_backward<how>, unsigned(blocks), BlockSize(f.threads(), f.bytes()), d.x, d_mixed, dy, kept, left, x,
           f, drop1, drop2);
  });
  add_up_norms(d, left.norms, blocks);
  multiply_together({rows, rows, rows}, {{d.output, {}, mixed, left.dz1, C, C},
                                         {d.w1, d.b1, kept.h, left.dhidden, C, x.d_ff},
                                         {d.w2, d.b2, kept.hidden, left.dz2, x.d_ff, C}});
}

void encoder_block_backward(const BlockGrads& d, const real* dy, const BlockKept& kept, const BlockArgs& args) {
  const BlockArgs x = without_streams(args);
  const AttentionArgs& a = x.attention;
  const BlockFrame f = frame_of(x, backward_matrices, true);
  const DropoutArgs drop1 = dropout_args(args.dropout1), drop2 = dropout_args(args.dropout2);
  constexpr int C = block_width;
  const int64_t queries = int64_t(a.batch) * a.queries, keys = int64_t(a.batch) * a.keys;
  const int row_tiles = a.batch * f.query_rows / tile_rows;

  BlockLeft left;
  real* memory = scratch(7, (2 * queries + 3 * keys) * C + queries * x.d_ff);
  left.dz1 = taken(memory, queries * C), left.dz2 = taken(memory, queries * C);
  left.dhidden = taken(memory, queries * x.d_ff);
  left.dq = taken(memory, keys * C), left.dk = taken(memory, keys * C), left.dv = taken(memory, keys * C);

  const bool of_queries = d.q_bias || d.q_rel_bias;
  const int64_t n_norms = int64_t(a.batch) * 4 * C, n_queries = of_queries ? int64_t(row_tiles) * 2 * C : 0;
  const int64_t rows = int64_t(a.batch) * a.rows, n_r = d.r ? rows * C : 0, n_biases = d.bias ? rows * block_heads : 0;
  real* partial = room_for_sums(n_norms + n_queries + n_r + n_biases);
  left.norms = taken(partial, n_norms);
  if (n_queries) left.query_biases = taken(partial, n_queries);
  if (n_r) left.r = taken(partial, n_r);
  if (n_biases) left.biases = taken(partial, n_biases);

  for_block_form(a.r, [&]<Rounding how, bool relative>() {
    launch(block_backward<how, relative>, unsigned(a.batch), BlockSize(f.threads(), f.bytes()), d.x, dy, kept, left, x,
           f, drop1, drop2);
  });

  add_up_norms(d, left.norms, a.batch);
  if (d.q_bias) add_up_later({d.q_bias, left.query_biases, C, 2 * C, row_tiles});
  if (d.q_rel_bias) add_up_later({d.q_rel_bias, left.query_biases + C, C, 2 * C, row_tiles});
  add_up_later({d.r, left.r, int64_t(a.rows) * C, int64_t(a.rows) * C, a.batch});
  add_up_later({d.bias, left.biases, int64_t(a.rows) * block_heads, int64_t(a.rows) * block_heads, a.batch});

  multiply_together({keys, keys, keys, queries, queries, queries},
                    {{d.query, {}, x.x, left.dq, C, C},
                     {d.key, {}, x.x, left.dk, C, C},
                     {d.value, {}, x.x, left.dv, C, C},
                     {d.output, {}, kept.mixed, left.dz1, C, C},
                     {d.w1, d.b1, kept.h, left.dhidden, C, x.d_ff},
                     {d.w2, d.b2, kept.hidden, left.dz2, x.d_ff, C}});
}

}  // namespace poslab::cuda
