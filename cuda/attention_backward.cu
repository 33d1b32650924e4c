// Fused attention, backward. The weights are computed again from the logits and the two numbers kept for each row:
//
//   a_ij = exp(s_ij - max_i) / z_i     ds_ij = a_ij (do_i . v_j - do_i . o_i)
//   dq_i += scale sum_j ds_ij k_j      dk_j += scale sum_i ds_ij q_i      dv_j += sum_i a_ij do_i
//   dq_rel_i += scale sum_j ds_ij r[pair(i,j)]                            dr, dbias: cuda/row_sums.cuh
#include "cuda/row_sums.cuh"
#include "cuda/wide_heads.cuh"

namespace poslab::cuda {
namespace {

constexpr int row_fours = 512 / words;  // q and do of the query rows that most_threads serve

// Blocks: (groups of sequences, heads), each for all queries from .. to, so that every sum has one owner. For each tile
// of keys a thread first has a query row, leaves ds and a of the tile in shared memory, and collects dq. Then it has
// four channels of a dk or dv, and goes along the queries. ds: (batch, heads, keys, to - from), null if not wanted.
template <int L, bool relative>
__global__ void __launch_bounds__(most_threads)
    attend_backward(AttentionGrads d, AttentionArgs x, Cut cut, const real* d_o, const real* o, const real* stats,
                    real* ds, int from, int to) {
  constexpr int room = pool_fours(L == 1, relative), waiting = 2 * waiting_room(L == 1);
  SHARED(Four, pool, room);
  SHARED(Four, query_rows, row_fours);  // scale q, then do
  SHARED(real, weights, waiting);       // ds, then a: (query rows, cut.keys + 1), odd against bank conflicts
  const int lanes = L ? L : cut.lanes, fours = 2 * lanes, head = int(blockIdx.y), b0 = int(blockIdx.x) * cut.sequences;
  const int D = x.head_dim, R = x.rel_dim, stride = cut.keys + 1, rows = cut.sequences * cut.queries;
  for (int i0 = from; i0 < to; i0 += cut.queries) {
    const int end = smaller(i0 + cut.queries, to);
    const Mine me = mine<L>(x, cut, b0, i0, end);
    const Tile tile = tile_of<L, relative>(x, cut, me);
    const int64_t query = query_row(x, me.b, me.i, head), of_head = int64_t(me.b) * x.heads + head;
    const int c = me.lane * piece;
    const real most = stats[2 * (of_head * x.queries + me.i)], inverse = stats[2 * (of_head * x.queries + me.i) + 1];
    const Eight dy = eight(d_o + query * D, c, D, cut.whole);
    const real along = over_lanes<L>(dot(dy, eight(o + query * D, c, D, cut.whole)), lanes);
    Eight q = eight(x.piece[0].q + query * D, c, D, cut.whole), q_rel{}, dq{}, dq_rel{};
    multiply(q, x.scale);
    if constexpr (relative) {
      q_rel = eight(x.q_rel + query * R, c, R, cut.whole);
      multiply(q_rel, x.scale);
    }
    __syncthreads();  // the tile of queries before is done with
    if (me.alive) {
      const int at = me.at * fours + 2 * me.lane;
      query_rows[at] = q.low, query_rows[at + 1] = q.high;
      query_rows[rows * fours + at] = dy.low, query_rows[rows * fours + at + 1] = dy.high;
    }
    fill<L, relative>(pool, x, cut, b0, head, i0, 0);
    const bool writes = me.alive && me.lane == 0;
    const int own = me.at * stride;
    const int64_t own_ds = of_head * x.keys * (to - from) + me.i - from;
    const int seen = seen_by(x, me.i), far = warp_max(seen);
    const int until = i0 == 0 ? x.keys : seen_by(x, end - 1);  // the first tile of queries writes all keys
    for (int j0 = 0; j0 < until; j0 += cut.keys) {
      __syncthreads();
      const int here = smaller(cut.keys, x.keys - j0), lit = larger(0, smaller(here, far - j0));
      int64_t to_ds = own_ds + int64_t(j0) * (to - from);
      for (int j = 0; j < lit; j += 2, to_ds += 2 * (to - from)) {
        real a[2], d_s[2];
        for (int u = 0; u < 2; ++u) {
          const int key = (j + u) * tile.key_step, pair = (j + u) * tile.pair_step;
          const Eight k = eight(pool, tile.k + key);
          Eight r{};
          if constexpr (relative) r = eight(pool, tile.r + pair);
          real s = over_lanes<L>(dots<relative>(q, k, q_rel, r), lanes);
          if (x.bias) s += Four(pool[tile.bias + pair]).c[0];
          a[u] = exp(s - most) * inverse;
          d_s[u] = a[u] * (over_lanes<L>(dot(dy, eight(pool, tile.v + key)), lanes) - along);
          if (j0 + j + u >= seen) a[u] = 0, d_s[u] = 0;
          add_scaled(dq, d_s[u], k);
          if constexpr (relative) add_scaled(dq_rel, d_s[u], r);
        }
        if (!writes) continue;
        for (int u = 0; u < 2; ++u) {
          weights[own + j + u] = d_s[u], weights[own + rows * stride + j + u] = a[u];
          if (ds && j0 + j + u < seen) ds[to_ds + u * (to - from)] = d_s[u];
        }
      }
      for (int j = lit + lit % 2; j < here && writes; ++j) weights[own + j] = 0, weights[own + rows * stride + j] = 0;
      __syncthreads();
      if (j0 + cut.keys < until) fill<L, relative>(pool, x, cut, b0, head, i0, j0 + cut.keys);
      const int begin = x.causal ? larger(0, j0 - (x.keys - x.queries) - i0) : 0;
      for (int e = int(threadIdx.x); e < 2 * cut.sequences * cut.keys * fours; e += int(blockDim.x)) {
        const int f = e % fours, at = over(e / fours, cut.keys), j = e / fours - at * cut.keys, channels = f * 4;
        const int which = at >= cut.sequences, n = at - which * cut.sequences;
        const Accumulator sum = which == 0 ? d.k[0] : d.v;
        if (!sum.at || b0 + n >= x.batch || j >= here || channels >= D) continue;
        const int row = which * rows + n * cut.queries;
        Four total{};
        for (int i = begin; i < end - i0; ++i)
          add_scaled(total, weights[(row + i) * stride + j], query_rows[(row + i) * fours + f]);
        put(sum.at + key_row(x, b0 + n, j0 + j, head) * D, sum.empty && i0 == 0, channels, D, cut.whole, total);
      }
    }
    if (!me.alive) continue;
    multiply(dq, x.scale), multiply(dq_rel, x.scale);
    if (d.q[0].at) put(d.q[0].at + query * D, d.q[0].empty, c, D, cut.whole, dq);
    if (relative && d.q_rel.at) put(d.q_rel.at + query * R, d.q_rel.empty, c, R, cut.whole, dq_rel);
  }
}

// One pass over queries from .. to of some sequences, with what they have of d, d_o, o, stats.
struct Pass {
  AttentionGrads d;
  AttentionArgs x;
  const real *d_o, *o, *stats;
};

template <int L, bool relative>
void start(const Pass& p, const Cut& cut, real* ds, int from, int to) {
  const dim3 blocks(unsigned(parts(p.x.batch, cut.sequences)), unsigned(p.x.heads));
  launch(attend_backward<L, relative>, blocks, cut.threads(), p.d, p.x, cut, p.d_o, p.o, p.stats, ds, from, to);
}

void run(const Pass& p, real* ds, int from, int to) {
  const AttentionArgs& x = p.x;
  if (too_wide(x)) return wide::backward(p.d, x, p.d_o, p.o, p.stats, ds, from, to);
  Cut cut = cut_for(x, true);
  cut.whole = in_fours(x) && aligned(p.d_o) && aligned(p.o) && aligned(p.d.q[0].at) && aligned(p.d.k[0].at) &&
              aligned(p.d.v.at) && aligned(p.d.q_rel.at);
  if (cut.lanes == 1)
    x.q_rel ? start<1, true>(p, cut, ds, from, to) : start<1, false>(p, cut, ds, from, to);
  else
    x.q_rel ? start<0, true>(p, cut, ds, from, to) : start<0, false>(p, cut, ds, from, to);
}

// The pass of sequences b .. b + n.
Pass some(const Pass& all, int b, int n, bool first) {
  Pass p = all;
  const int64_t q = int64_t(b) * all.x.queries * all.x.heads, k = int64_t(b) * all.x.keys * all.x.heads;
  const auto go = [](Accumulator& s, int64_t far) {
    if (s) s.at += far;
  };
  go(p.d.q[0], q * all.x.head_dim), go(p.d.q_rel, q * all.x.rel_dim);
  go(p.d.k[0], k * all.x.head_dim), go(p.d.v, k * all.x.head_dim);
  if (!first) p.d.k[0].empty = p.d.v.empty = false;
  p.x = sequences(all.x, b, n);
  p.d_o += q * all.x.head_dim, p.o += q * all.x.head_dim, p.stats += 2 * q;
  return p;
}

}  // namespace

void attention_backward(const AttentionGrads& d, const AttentionArgs& x, const real* d_o, const real* o,
                        const real* stats) {
  RowSum sums[] = {{d.r, x.q_rel, x.rel_dim, x.scale}, {d.bias, nullptr, 1, 1}};
  const bool wants_rows = d.r || d.bias, own_pairs = x.pairs && x.pairs_batch > 1;
  // If ds has to stand in memory: so many queries and sequences at once that it and g have bounds.
  int queries = x.queries, batch = x.batch;
  if (wants_rows || too_wide(x)) {
    const int64_t of_query = int64_t(x.heads) * x.keys * (d.r && !own_pairs ? larger(1, x.rel_dim) : 1);
    while (queries > 1 && !own_pairs && queries * of_query > weights_at_once) queries = parts(queries, 2);
    while (batch > 1 && int64_t(batch) * x.heads * x.keys * queries > weights_at_once) batch = parts(batch, 2);
  }
  const int64_t weights = int64_t(batch) * x.heads * x.keys * queries, pairs = int64_t(x.heads) * x.keys * queries;
  real* ds = wants_rows || too_wide(x) ? scratch(1, weights) : nullptr;
  real* g[] = {nullptr, nullptr};
  for (int s = 0; s < 2; ++s)
    if (sums[s].to && !own_pairs) g[s] = scratch(2 + s, pairs * sums[s].n);
  for (int from = 0; from < x.queries; from += queries) {
    const int to = smaller(from + queries, x.queries);
    for (int b = 0; b < x.batch; b += batch) {
      const Pass pass = some({d, x, d_o, o, stats}, b, smaller(batch, x.batch - b), from == 0);
      run(pass, ds, from, to);
      for (int s = 0; s < 2; ++s) {
        if (!sums[s].to) continue;
        RowSum sum = sums[s];
        if (sum.y) sum.y = pass.x.q_rel;
        if (g[s])
          start_collect(g[s], b > 0, ds, sum, pass.x, from, to);
        else
          start_gather(sum, nullptr, ds, pass.x, from, to), sums[s].to.empty = false;
      }
    }
    for (int s = 0; s < 2; ++s)
      if (g[s]) start_gather(sums[s], g[s], ds, x, from, to), sums[s].to.empty = false;
  }
}

}  // namespace poslab::cuda
