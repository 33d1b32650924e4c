// Attention of heads of up to 128 channels on tensor cores, forward and backward, with all terms of a logit but q_rel.
// Weights are never stored (Dao 2023, FlashAttention-2): the forward pass scales its sums down when a larger logit
// comes, as cuda/attention.cu does; the backward pass computes the logits twice more, so that each sum has one owner.
//
//   kernel       own rows   tiles      pairs                                  sums
//   attend       q          k, v       s = q k^T                              o  += a v
//   of_queries   q, do      v, k       da = do v^T, s = q k^T                 dq += du k
//   of_keys      k, v       q, do      s^T = k q^T, da^T = v do^T             dv += a^T do,  dk += du^T q
//
// A block has 64 rows of its own, of one head of one sequence. Pieces come one after the other, each with the tiles
// that its runs of keys touch: only a tile in which two pieces meet has two products.
#include "cuda/attention_routes.h"
#include "cuda/attention_wide.cuh"

namespace poslab::cuda {

Rounding matmul_in_use();                                   // cuda/product.cu

namespace wide {
namespace {

// Bytes of shared memory for `rows` rows.
template <int W>
constexpr int bytes_of(int rows) {
  return rows * line<W> * int(sizeof(real));
}

// How factors are rounded, and how many channels a row has in shared memory.
template <Rounding how_, int W_>
struct Form {
  static constexpr Rounding how = how_;
  static constexpr int W = W_, tile_rows = W > 64 ? 16 : 32;      // rows of a tile
};

// A lane's two rows among the `count` rows of its block, and the first row of its warp.
struct OwnRows {
  int warp_row, row[2], count;
  __device__ explicit OwnRows(int count_) : count(count_) {
    warp_row = int(threadIdx.x) / warp * 16;
    row[0] = warp_row + int(threadIdx.x) % warp / 4, row[1] = row[0] + 8;
  }
  __device__ bool there(int r) const { return row[r] < count; }
};

// Keys that any of the queries i .. end - 1 sees in piece p: both limits grow with the query.
__device__ inline KeyRange keys_of_queries(const AttentionArgs& x, int p, int b, int i, int end) {
  if (i >= end) return {0, 0};
  return {keys_of<false>(x, p, b, i).first, keys_of<false>(x, p, b, end - 1).end};
}
// The ranges of piece p's keys that a block's queries, from i0 on, a warp's queries, and a lane's two queries see.
struct SeenKeys {
  KeyRange of_block, of_warp, of_row[2];
  __device__ SeenKeys(const AttentionArgs& x, int p, int b, int i0, const OwnRows& me) {
    const auto of = [&](int row, int rows) {
      return keys_of_queries(x, p, b, i0 + row, i0 + smaller(row + rows, me.count));
    };
    of_block = of(0, own_rows), of_warp = of(me.warp_row, 16);
    for (int r = 0; r < 2; ++r) of_row[r] = of(me.row[r], 1);
  }
};
__device__ inline bool meet(const KeyRange& keys, int j0, int n) { return keys.first < j0 + n && keys.end > j0; }

// Blocks: (sequences x tiles of 64 queries, heads); the last queries, which see the most keys, begin first.
template <class F>
__global__ void __launch_bounds__(block_threads, 2) attend(real* o, real* stats, const AttentionArgs x, bool whole) {
  SHARED_OF_LAUNCH(Four, pool);
  if (without_tensor_cores) return;
  constexpr Rounding how = F::how;
  constexpr int W = F::W, tile_rows = F::tile_rows, N = tile_rows / 8;
  constexpr int k_tile = own_rows * line<W>, v_tile = k_tile + tile_rows * line<W>;
  const int tiles = ceil_div(x.queries, own_rows), D = x.head_dim, Dv = x.value_dim;
  const int b = int(blockIdx.x) / tiles, i0 = (tiles - 1 - int(blockIdx.x) % tiles) * own_rows, head = int(blockIdx.y);
  const int kv_head = head / (x.heads / x.kv_heads), t = int(threadIdx.x) % 4;
  const OwnRows me(smaller(own_rows, x.queries - i0));
  float sums[W / 8][4] = {};
  real max[2] = {-INFINITY, -INFINITY}, z[2] = {}, temperature[2] = {};
  for (int r = 0; r < 2; ++r)
    if (me.there(r)) temperature[r] = temperature_of(x, b, head, i0 + me.row[r]);
  for (int p = 0; p < x.pieces; ++p) {
    const SeenKeys seen(x, p, b, i0, me);
    const KeyRange keys = seen.of_block;
    const auto bring_keys = [&](int at, const real* from, int n, int j0) {
      bring_rows<W>(pool, at, tile_rows, from + key_row(x, b, j0, kv_head) * n, int64_t(x.kv_heads) * n,
                    keys.end - j0, n, whole);
    };
    if (keys.first >= keys.end) continue;
    __syncthreads();                                       // all threads have read the earlier piece's rows
    bring_rows<W>(pool, 0, own_rows, x.piece[p].q + query_row(x, b, i0, head) * D, int64_t(x.heads) * D, me.count, D,
                  whole);
    bring_keys(k_tile, x.piece[p].k, D, keys.first);
    for (int j0 = keys.first; j0 < keys.end; j0 += tile_rows) {
      const bool lit = meet(seen.of_warp, j0, tile_rows);
      float s[N][4] = {};
      arrived(pool);
      __syncthreads();                                     // k has arrived, and all have read the last v
      bring_keys(v_tile, x.v, Dv, j0);
      if (lit) {
        multiply_rows<how, W>(s, pool, me.warp_row * line<W>, k_tile);
        UNROLL for (int r = 0; r < 2; ++r) {
          real top = max[r];
          UNROLL for (int m = 0; m < N; ++m)
            UNROLL for (int e = 2 * r; e < 2 * r + 2; ++e) {
              const int j = j0 + 8 * m + 2 * t + e % 2;
              const bool is_seen = j >= seen.of_row[r].first && j < seen.of_row[r].end;
              s[m][e] = is_seen ? float(temperature[r] * logit(x, b, head, i0 + me.row[r], j, real(s[m][e])).u)
                                : -INFINITY;
              top = s[m][e] > top ? real(s[m][e]) : top;
            }
          top = row_max(top);
          const real shift = top == -INFINITY ? real(0) : top, fade = exp(max[r] - shift);
          max[r] = top, z[r] *= fade;
          UNROLL for (int w = 0; w < W / 8; ++w) sums[w][2 * r] *= float(fade), sums[w][2 * r + 1] *= float(fade);
          UNROLL for (int m = 0; m < N; ++m)
            UNROLL for (int e = 2 * r; e < 2 * r + 2; ++e) {
              const real weight = exp(real(s[m][e]) - shift);
              z[r] += weight, s[m][e] = float(weight);
            }
        }
      }
      arrived(pool);
      __syncthreads();                                     // v has arrived, and all have read k
      if (j0 + tile_rows < keys.end) bring_keys(k_tile, x.piece[p].k, D, j0 + tile_rows);
      if (lit) add_rows<how, W>(sums, s, pool, v_tile);
    }
  }
  int64_t at[2];
  real inverse[2];
  for (int r = 0; r < 2; ++r) {
    z[r] = row_sum(z[r]), inverse[r] = z[r] == 0 ? real(0) : 1 / z[r];         // 0: no key was seen
    at[r] = me.there(r) ? query_row(x, b, i0 + me.row[r], head) * Dv : -1;
    if (!me.there(r) || t > 0) continue;
    real* kept = stats + 2 * weight_row(x, b, head, i0 + me.row[r]);
    kept[0] = inverse[r] == 0 ? real(0) : max[r], kept[1] = inverse[r];
  }
  put_rows<W>({o, true}, at, Dv, sums, inverse);
}

// The numbers that the backward pass keeps for a query; for of_keys they lie in memory as (batch, heads, queries)
// Fours.
struct QueryFacts {
  real max = 0, inverse = 0, delta = 0, temperature = 0;
  QueryFacts() = default;
  __device__ explicit QueryFacts(const Four& y) : max(y.c[0]), inverse(y.c[1]), delta(y.c[2]), temperature(y.c[3]) {}
  __device__ Four four() const { return {{max, inverse, delta, temperature}}; }
};

// a_ij, and ds_ij = a_ij (da_ij - delta_i), of a pair that the query sees
struct PairGrad {
  real a, ds;
};
__device__ inline PairGrad grad_of(const QueryFacts& i, real u, real da) {
  const real a = exp(i.temperature * u - i.max) * i.inverse;
  return {a, a * (da - i.delta)};
}

// dq, the arrays of `wanted`, and `facts`. Blocks are as in attend, for queries from .. to.
template <class F>
__global__ void __launch_bounds__(block_threads, 2)
    of_queries(const AttentionGrads d, const AttentionArgs x, const real* d_o, const real* o, const real* stats,
               const LogitGrads wanted, Four* facts, int from, int to, bool whole) {
  SHARED_OF_LAUNCH(Four, pool);
  if (without_tensor_cores) return;
  constexpr Rounding how = F::how;
  constexpr int W = F::W, N = F::tile_rows / 8;
  constexpr int do_rows = own_rows * line<W>, k_tile = 2 * do_rows, v_tile = k_tile + F::tile_rows * line<W>;
  const int tiles = ceil_div(to - from, own_rows), D = x.head_dim, Dv = x.value_dim, head = int(blockIdx.y);
  const int b = int(blockIdx.x) / tiles, i0 = from + (tiles - 1 - int(blockIdx.x) % tiles) * own_rows;
  const int kv_head = head / (x.heads / x.kv_heads), t = int(threadIdx.x) % 4;
  const OwnRows me(smaller(own_rows, to - i0));
  bring_rows<W>(pool, do_rows, own_rows, d_o + query_row(x, b, i0, head) * Dv, int64_t(x.heads) * Dv, me.count, Dv,
                whole);
  arrived(pool);
  __syncthreads();
  QueryFacts row[2] = {};
  real dtemperature[2] = {};
  for (int r = 0; r < 2; ++r) {
    const int i = i0 + me.row[r];
    const real* const of_row = o + query_row(x, b, me.there(r) ? i : i0, head) * Dv;
    real delta = 0;
    for (int c = t; c < Dv; c += 4) delta += real(number(pool, do_rows + me.row[r] * line<W> + c)) * of_row[c];
    delta = row_sum(delta);
    if (!me.there(r)) continue;
    const real* const kept = stats + 2 * weight_row(x, b, head, i);
    row[r] = QueryFacts(Four{{kept[0], kept[1], delta, temperature_of(x, b, head, i)}});
    if (t == 0) facts[weight_row(x, b, head, i)] = row[r].four();
  }
  for (int p = 0; p < x.pieces; ++p) {
    const SeenKeys seen(x, p, b, i0, me);
    const KeyRange keys = seen.of_block;
    const auto bring_keys = [&](int at, const real* from, int n, int j0) {
      bring_rows<W>(pool, at, F::tile_rows, from + key_row(x, b, j0, kv_head) * n, int64_t(x.kv_heads) * n,
                    keys.end - j0, n, whole);
    };
    float dq[W / 8][4] = {};
    if (keys.first < keys.end) {
      __syncthreads();                                     // all threads have read the earlier piece's rows
      bring_rows<W>(pool, 0, own_rows, x.piece[p].q + query_row(x, b, i0, head) * D, int64_t(x.heads) * D, me.count,
                    D, whole);
      bring_keys(v_tile, x.v, Dv, keys.first);
    }
    for (int j0 = keys.first; j0 < keys.end; j0 += F::tile_rows) {
      const bool lit = meet(seen.of_warp, j0, F::tile_rows);
      float s[N][4] = {}, da[N][4] = {};
      arrived(pool);
      __syncthreads();                                     // v has arrived, and all have read the last k
      bring_keys(k_tile, x.piece[p].k, D, j0);
      if (lit) multiply_rows<how, W>(da, pool, do_rows + me.warp_row * line<W>, v_tile);
      arrived(pool);
      __syncthreads();                                     // k has arrived, and all have read v
      if (j0 + F::tile_rows < keys.end) bring_keys(v_tile, x.v, Dv, j0 + F::tile_rows);
      if (!lit) continue;
      multiply_rows<how, W>(s, pool, me.warp_row * line<W>, k_tile);
      UNROLL for (int m = 0; m < N; ++m)
        UNROLL for (int e = 0; e < 4; ++e) {
          const int r = e / 2, i = i0 + me.row[r], j = j0 + 8 * m + 2 * t + e % 2;
          const real product = real(s[m][e]);
          s[m][e] = 0;
          if (j < seen.of_row[r].first || j >= seen.of_row[r].end) continue;
          const Logit y = logit(x, b, head, i, j, product);
          const real ds = grad_of(row[r], y.u, real(da[m][e])).ds, du = row[r].temperature * ds;
          s[m][e] = float(y.gain * du);
          if (ds != 0) dtemperature[r] += ds * y.u;        // u may be -infinite where ds is 0
          if (!wanted.du) continue;
          const int64_t at = ((int64_t(b) * x.heads + head) * x.keys + j) * (to - from) + i - from;
          wanted.du[at] = du;
          if (wanted.dgain) wanted.dgain[at] = du * y.p;
        }
      add_rows<how, W>(dq, s, pool, k_tile);
    }
    int64_t at[2];
    for (int r = 0; r < 2; ++r) at[r] = me.there(r) ? query_row(x, b, i0 + me.row[r], head) * D : -1;
    if (d.q[p].at) put_rows<W>(d.q[p], at, D, dq, {x.scale, x.scale});
  }
  for (int r = 0; r < 2; ++r) {
    dtemperature[r] = row_sum(dtemperature[r]);
    if (wanted.dtemperature && me.there(r) && t == 0)
      wanted.dtemperature[weight_row(x, b, head, i0 + me.row[r])] = dtemperature[r];
  }
}

// Queries among from .. to that see any of the keys j .. end - 1 in piece p.
__device__ inline KeyRange queries_of_keys(const AttentionArgs& x, int p, int b, int j, int end, int from, int to) {
  if (j >= end) return {0, 0};
  const AttentionPiece& piece = x.piece[p];
  const int length = x.key_lengths ? smaller(x.keys, x.key_lengths[b]) : x.keys;
  if (j >= smaller(piece.end, length) || end <= larger(0, piece.first)) return {0, 0};
  const int ahead = x.causal ? smaller(piece.to, 1) : piece.to;              // j - slot < ahead
  return {larger(from, j - ahead + 1 - x.offset), smaller(to, end - piece.from - x.offset)};
}

// Computes the terms that queries from .. to add to dk and dv. Blocks: (sequences x tiles of 64 keys, key heads), each
// for all heads that read its keys.
template <class F>
__global__ void __launch_bounds__(block_threads, 2)
    of_keys(const AttentionGrads d, const AttentionArgs x, const real* d_o, const Four* facts, int from, int to,
            bool whole) {
  SHARED_OF_LAUNCH(Four, pool);
  if (without_tensor_cores) return;
  constexpr Rounding how = F::how;
  constexpr int W = F::W, N = F::tile_rows / 8;
  constexpr int v_rows = own_rows * line<W>, q_tile = 2 * v_rows, do_tile = q_tile + F::tile_rows * line<W>;
  constexpr int facts_at = (do_tile + F::tile_rows * line<W>) / 4;
  const int tiles = ceil_div(x.keys, own_rows), b = int(blockIdx.x) / tiles, j0 = int(blockIdx.x) % tiles * own_rows;
  const int D = x.head_dim, Dv = x.value_dim, kv_head = int(blockIdx.y), group = x.heads / x.kv_heads;
  const int t = int(threadIdx.x) % 4;
  const OwnRows me(smaller(own_rows, x.keys - j0));
  const int length = smaller(me.count, (x.key_lengths ? x.key_lengths[b] : x.keys) - j0);  // rows to read
  const auto bring_own = [&](int at, const real* from_row, int n) {
    bring_rows<W>(pool, at, own_rows, from_row + key_row(x, b, j0, kv_head) * n, int64_t(x.kv_heads) * n, length, n,
                  whole);
  };
  const auto put_own = [&](const Accumulator& to, int n, const float(&sums)[W / 8][4], real factor) {
    int64_t at[2];
    for (int r = 0; r < 2; ++r) at[r] = me.there(r) ? key_row(x, b, j0 + me.row[r], kv_head) * n : -1;
    if (to.at) put_rows<W>(to, at, n, sums, {factor, factor});
  };
  bring_own(v_rows, x.v, Dv);
  float dv[W / 8][4] = {};
  for (int p = 0; p < x.pieces; ++p) {
    const KeyRange queries = queries_of_keys(x, p, b, j0, j0 + me.count, from, to);
    const KeyRange of_warp =
        queries_of_keys(x, p, b, j0 + me.warp_row, j0 + smaller(me.warp_row + 16, me.count), from, to);
    KeyRange seen[2];
    for (int r = 0; r < 2; ++r)
      seen[r] = queries_of_keys(x, p, b, j0 + me.row[r], j0 + smaller(me.row[r] + 1, me.count), from, to);
    float dk[W / 8][4] = {};
    __syncthreads();                                       // all threads have read the earlier piece's rows
    bring_own(0, x.piece[p].k, D);
    for (int head = kv_head * group; head < kv_head * group + group; ++head)
      for (int i0 = queries.first; i0 < queries.end; i0 += F::tile_rows) {
        const int64_t first = query_row(x, b, i0, head);
        __syncthreads();                                   // all threads have read the last tile
        const auto bring_queries = [&](int at, const real* of_rows, int n) {
          bring_rows<W>(pool, at, F::tile_rows, of_rows + first * n, int64_t(x.heads) * n, queries.end - i0, n,
                        whole);
        };
        bring_queries(q_tile, x.piece[p].q, D), bring_queries(do_tile, d_o, Dv);
        if (const int row = int(threadIdx.x); row < F::tile_rows)
          pool[facts_at + row] = i0 + row < queries.end ? facts[weight_row(x, b, head, i0 + row)] : Four{};
        arrived(pool);
        __syncthreads();
        if (!meet(of_warp, i0, F::tile_rows)) continue;
        float s[N][4] = {}, da[N][4] = {};
        multiply_rows<how, W>(s, pool, me.warp_row * line<W>, q_tile);
        multiply_rows<how, W>(da, pool, v_rows + me.warp_row * line<W>, do_tile);
        UNROLL for (int m = 0; m < N; ++m)
          UNROLL for (int e = 0; e < 2; ++e) {             // one query with each of the lane's two keys
            const int row = 8 * m + 2 * t + e, i = i0 + row;
            const QueryFacts of_i(pool[facts_at + row]);
            for (int r = 0; r < 2; ++r) {
              const int j = j0 + me.row[r], at = 2 * r + e;
              const real product = real(s[m][at]), dweight = real(da[m][at]);
              s[m][at] = da[m][at] = 0;
              if (i < seen[r].first || i >= seen[r].end) continue;
              const Logit y = logit(x, b, head, i, j, product);
              const PairGrad grad = grad_of(of_i, y.u, dweight);
              s[m][at] = float(grad.a), da[m][at] = float(y.gain * of_i.temperature * grad.ds);
            }
          }
        add_rows<how, W>(dv, s, pool, do_tile);
        add_rows<how, W>(dk, da, pool, q_tile);
      }
    put_own(d.k[p], D, dk, x.scale);
  }
  put_own(d.v, Dv, dv, 1);
}

// Calls start(Form) with the precision in use and the narrowest rows that fit.
template <class Start>
void in_form(const AttentionArgs& x, const Start& start) {
  const auto of_width = [&]<Rounding how>() {
    const int channels = larger(x.head_dim, x.value_dim);
    channels <= 32 ? start(Form<how, 32>{}) : channels <= 64 ? start(Form<how, 64>{}) : start(Form<how, 128>{});
  };
  switch (matmul_in_use()) {
    case Rounding::tf32: return of_width.template operator()<Rounding::tf32>();
    case Rounding::bf16: return of_width.template operator()<Rounding::bf16>();
    case Rounding::tf32x3:
    case Rounding::fp32: return of_width.template operator()<Rounding::tf32x3>();
  }
}

}  // namespace

void attention(real* o, real* stats, const AttentionArgs& x) {
  const dim3 blocks(unsigned(x.batch * ceil_div(x.queries, own_rows)), unsigned(x.heads));
  const bool whole = in_fours(x);
  in_form(x, [&]<class F>(F) {
    launch(attend<F>, blocks, {block_threads, bytes_of<F::W>(own_rows + 2 * F::tile_rows)}, o, stats, x, whole);
  });
}

void backward(const AttentionPass& pass, int from, int to) {
  const AttentionArgs& x = pass.x;
  const int64_t rows = int64_t(x.batch) * x.heads * x.queries;
  Four* const facts = reinterpret_cast<Four*>(scratch(8, 4 * rows));
  const bool whole = in_fours(x) && aligned(pass.d_o);
  const dim3 query_blocks(unsigned(x.batch * ceil_div(to - from, own_rows)), unsigned(x.heads));
  const dim3 key_blocks(unsigned(x.batch * ceil_div(x.keys, own_rows)), unsigned(x.kv_heads));
  in_form(x, [&]<class F>(F) {
    const int bytes = bytes_of<F::W>(2 * own_rows + 2 * F::tile_rows);
    launch(of_queries<F>, query_blocks, {block_threads, bytes}, pass.d, x, pass.d_o, pass.o, pass.stats, pass.wanted,
           facts, from, to, whole);
    launch(of_keys<F>, key_blocks, {block_threads, bytes + F::tile_rows * int(sizeof(Four))}, pass.d, x, pass.d_o,
           facts, from, to, whole);
  });
}

}  // namespace wide
}  // namespace poslab::cuda
