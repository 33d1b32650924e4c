// Fused attention, forward. Keys come a few at a time, and the sums of a query row are scaled down when a larger logit
// turns up, so that no weight is ever stored (Milakov & Gimelshein 2018, Dao et al. 2022):
//
//   m' = max(m, max_j s_ij)   z' = exp(m - m') z + sum_j exp(s_ij - m')   o' = exp(m - m') o + sum_j exp(s_ij - m') v_j
//
// The order of the keys is free, so pieces come one after the other, each with the tiles that its runs of keys touch.
// cuda/naive/attention.cu computes the same without tiles; docs/gpu.md draws the shared memory.
#include "cuda/attention_biases.h"
#include "cuda/attention_general.cuh"

namespace poslab::cuda {
namespace {

constexpr Room room_of(bool narrow, bool relative) {
  return {.lanes = max_threads, .fours = (!narrow ? 1792 : relative ? 1056 : 512) / words};
}

// Blocks: (groups of sequences x tiles of queries, heads)
template <int L, bool relative, bool plain>
__global__ void __launch_bounds__(max_threads) attend(real* o, real* stats, const AttentionArgs x, const Tiling cut) {
  SHARED(Four, pool, room_of(L == 1, relative).fours);
  const int lanes = L ? L : cut.lanes, head = int(blockIdx.y), Dv = plain ? x.head_dim : x.value_dim;
  const int i0 = int(blockIdx.x) % cut.tiles * cut.queries, b0 = int(blockIdx.x) / cut.tiles * cut.sequences;
  const int end = smaller(i0 + cut.queries, x.queries);
  const QueryRow me = own_row<L>(x, cut, b0, i0, end);
  const Tile tile = tile_of<L, relative>(x, cut, me);
  const int64_t query = query_row(x, me.b, me.i, head);
  const real temperature = plain ? real(1) : temperature_of(x, me.b, head, me.i);
  Eight q_rel{};
  if constexpr (relative) q_rel = scaled_q_rel(x, query, head, me.lane * lane_channels, cut.whole);
  RunningSoftmax row;
  for (int p = 0; p < (plain ? 1 : x.pieces); ++p) {
    const Eight q = scaled_query(x, plain ? 0 : p, query, head, me.lane * lane_channels, cut.whole);
    const KeyRange seen = keys_of<plain>(x, p, me.b, me.i), of_block = keys_of_block<plain>(x, cut, p, b0, i0, end);
    const KeyRange of_warp{plain ? 0 : -warp_max(-seen.first), warp_max(seen.end)};
    for (int j0 = of_block.first; j0 < of_block.end; j0 += cut.keys) {
      __syncthreads();
      fill<L, relative, plain>(pool, x, cut, p, b0, head, i0, j0);
      arrived(pool);
      __syncthreads();
      const int until = smaller(cut.keys, of_warp.end - j0);
      const int first = plain ? 0 : larger(0, of_warp.first - j0) / keys_at_once * keys_at_once;
      for (int j = first; j < until; j += keys_at_once) {
        real s[keys_at_once];
        for (int u = 0; u < keys_at_once; ++u) {
          const int pair = (j + u) * tile.pair_step;
          Eight r{};
          if constexpr (relative) r = eight(pool, tile.r + pair);
          s[u] = over_lanes<L>(dots<relative>(q, eight(pool, tile.k + (j + u) * tile.key_step), q_rel, r), lanes);
          if constexpr (!plain)
            if (x.gain) s[u] *= Four(pool[tile.factors + pair]).c[1];
          if (x.bias) s[u] += Four(pool[tile.factors + pair]).c[0];
          if constexpr (!plain) s[u] *= temperature;
          if (j0 + j + u >= seen.end || (!plain && j0 + j + u < seen.first)) s[u] = -INFINITY;
        }
        row.add(s, [&](int u) { return eight(pool, tile.v + (j + u) * tile.key_step); });
      }
    }
  }
  if (!me.alive) return;
  const real inverse = !plain && row.z == 0 ? real(0) : 1 / row.z;   // 0: no key was seen
  multiply(row.sum, inverse);
  put(o + query * Dv, true, me.lane * lane_channels, Dv, cut.whole, row.sum);
  if (me.lane > 0) return;
  real* kept = stats + 2 * weight_row(x, me.b, head, me.i);
  kept[0] = inverse == 0 ? real(0) : row.max, kept[1] = inverse;
}

template <int L, bool relative>
void start(real* o, real* stats, const AttentionArgs& x, const Tiling& cut) {
  const dim3 blocks(unsigned(ceil_div(x.batch, cut.sequences) * cut.tiles), unsigned(x.heads));
  launch(is_plain(x) ? attend<L, relative, true> : attend<L, relative, false>, blocks, cut.threads(), o, stats, x, cut);
}

}  // namespace

void attention(real* o, real* stats, const AttentionArgs& x) {
  const Route route = route_of(x);
  if (route == Route::wide) return wide::attention(o, stats, x);
  if (route == Route::general) return general::attention(o, stats, with_sums(x));
  Tiling cut = tiling_for(x, room_of(channels_of(x) <= lane_channels, x.q_rel));
  cut.whole = in_fours(x) && aligned(o);
  if (cut.lanes == 1)
    x.q_rel ? start<1, true>(o, stats, x, cut) : start<1, false>(o, stats, x, cut);
  else
    x.q_rel ? start<0, true>(o, stats, x, cut) : start<0, false>(o, stats, x, cut);
}

void attention_weights(real* a, const AttentionArgs& x) { general::weights(a, nullptr, x, 0, x.queries); }

}  // namespace poslab::cuda
