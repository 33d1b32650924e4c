// Fused attention, forward. Keys come by a few at a time, and what a query row has gathered fades when a larger logit
// turns up, so that no weight is ever stored (Milakov & Gimelshein 2018, Dao et al. 2022):
//
//   m' = max(m, max_j s_ij)   z' = exp(m - m') z + sum_j exp(s_ij - m')   o' = exp(m - m') o + sum_j exp(s_ij - m') v_j
#include "cuda/logits.cuh"
#include "cuda/wide_heads.cuh"

namespace poslab::cuda {
namespace {

// Blocks: (groups of sequences x tiles of queries, heads)
template <int L, bool relative>
__global__ void __launch_bounds__(most_threads) attend(real* o, real* stats, AttentionArgs x, Cut cut) {
  constexpr int room = pool_fours(L == 1, relative);
  SHARED(Four, pool, room);
  const int lanes = L ? L : cut.lanes, head = int(blockIdx.y);
  const int i0 = int(blockIdx.x) % cut.tiles * cut.queries, b0 = int(blockIdx.x) / cut.tiles * cut.sequences;
  const int end = smaller(i0 + cut.queries, x.queries);
  const Mine me = mine<L>(x, cut, b0, i0, end);
  const Tile tile = tile_of<L, relative>(x, cut, me);
  const int64_t query = query_row(x, me.b, me.i, head);
  Eight q = eight(x.piece[0].q + query * x.head_dim, me.lane * piece, x.head_dim, cut.whole), q_rel{}, sum{};
  multiply(q, x.scale);
  if constexpr (relative) {
    q_rel = eight(x.q_rel + query * x.rel_dim, me.lane * piece, x.rel_dim, cut.whole);
    multiply(q_rel, x.scale);
  }
  real most = -INFINITY, z = 0;
  const int seen = seen_by(x, me.i), far = warp_max(seen), until = seen_by(x, end - 1);
  for (int j0 = 0; j0 < until; j0 += cut.keys) {
    __syncthreads();
    fill<L, relative>(pool, x, cut, b0, head, i0, j0);
    __syncthreads();
    const int here = smaller(cut.keys, far - j0);
    for (int j = 0; j < here; j += together) {
      real s[together], top = most;
      for (int u = 0; u < together; ++u) {
        const int pair = (j + u) * tile.pair_step;
        Eight r{};
        if constexpr (relative) r = eight(pool, tile.r + pair);
        s[u] = over_lanes<L>(dots<relative>(q, eight(pool, tile.k + (j + u) * tile.key_step), q_rel, r), lanes);
        if (x.bias) s[u] += Four(pool[tile.bias + pair]).c[0];
        if (j0 + j + u >= seen) s[u] = -INFINITY;
        top = s[u] > top ? s[u] : top;
      }
      const real shift = top == -INFINITY ? real(0) : top, fade = exp(most - shift);
      most = top, z *= fade, multiply(sum, fade);
      for (int u = 0; u < together; ++u) {
        const real e = exp(s[u] - shift);
        z += e, add_scaled(sum, e, eight(pool, tile.v + (j + u) * tile.key_step));
      }
    }
  }
  if (!me.alive) return;
  multiply(sum, 1 / z);
  put(o + query * x.head_dim, true, me.lane * piece, x.head_dim, cut.whole, sum);
  if (me.lane > 0) return;
  real* kept = stats + 2 * ((int64_t(me.b) * x.heads + head) * x.queries + me.i);
  kept[0] = most, kept[1] = 1 / z;
}

template <int L, bool relative>
void start(real* o, real* stats, const AttentionArgs& x, const Cut& cut) {
  const dim3 blocks(unsigned(parts(x.batch, cut.sequences) * cut.tiles), unsigned(x.heads));
  launch(attend<L, relative>, blocks, cut.threads(), o, stats, x, cut);
}

}  // namespace

void attention(real* o, real* stats, const AttentionArgs& x) {
  only_last_queries(x);
  if (too_wide(x)) return wide::attention(o, stats, x);
  Cut cut = cut_for(x, false);
  cut.whole = in_fours(x) && aligned(o);
  if (cut.lanes == 1)
    x.q_rel ? start<1, true>(o, stats, x, cut) : start<1, false>(o, stats, x, cut);
  else
    x.q_rel ? start<0, true>(o, stats, x, cut) : start<0, false>(o, stats, x, cut);
}

void attention_weights(real* a, const AttentionArgs& x) { only_last_queries(x), wide::weights(a, nullptr, x); }

}  // namespace poslab::cuda
