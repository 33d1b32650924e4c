// Fused attention, backward. The weights are computed again from the logits and the two numbers kept for each row:
//
//   a_ij = exp(s_ij - max_i) / z_i     ds_ij = a_ij (do_i . v_j - delta_i), delta_i = do_i . o_i
//   du_ij = temperature_i ds_ij
//   dq_i += scale sum_j gain du_ij k_j                         dk_j += scale sum_i gain du_ij q_i
//   dq_rel_i += scale sum_j gain du_ij r[pair(i,j)]            dv_j += sum_i a_ij do_i
//   dr, dgain, dbias, dtemperature, which sum over the whole batch: cuda/row_sums.cuh
//
// cuda/naive/attention_backward.cu computes the same without tiles; docs/gpu.md draws the shared memory.
#include "cuda/attention_biases.h"
#include "cuda/attention_general.cuh"
#include "cuda/row_sums.cuh"
#include "cuda/sums.h"

namespace poslab::cuda {

void fill(real* to, real value, int64_t n);              // cuda/fill.cu

namespace {

// Each warp's sums of dq_bias and dq_rel_bias, `pitch` reals apart, or null.
struct BiasSums {
  real *q = nullptr, *q_rel = nullptr;     // (heads, head_dim), (heads, rel_dim), and so on
  int64_t pitch = 0;
  FIELDS(BiasSums, q, q_rel, pitch)
};

// sums[head] = or += the sum of y over the query rows of this warp
__device__ inline void sum_over_rows(real* sums, int64_t pitch, bool empty, int head, int n, const QueryRow& me,
                                     int lanes, Eight y) {
  if (!me.alive) y = {};
  y = sum_over_lanes(y, lanes, warp / 2);
  const int64_t number = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp;
  if (int(threadIdx.x) % warp < lanes)
    put(sums + number * pitch + int64_t(head) * n, empty, me.lane * lane_channels, n, false, y);
}

// Capacities of the kernel's forms. Forms with `sums` (Tiles::diagonals) are made for 80 query rows: then six blocks
// with r, or eight without r, fit on a multiprocessor of an H100 at once. A multiprocessor has 228 KB of shared memory
// and 65,536 registers, which is 96 or 80 for each thread.
constexpr Room room_of(bool narrow, bool relative, bool sums) {
  if (sums && relative)
    return {.lanes = 96 / words, .fours = 400 / words, .weights = 1704 / words, .diagonals = 120 / words};
  if (sums) return {.lanes = 96 / words, .fours = 376 / words, .weights = 1720 / words, .diagonals = 128 / words};
  if (narrow && relative) return {.lanes = max_threads, .fours = 1600 / words, .weights = 1568 / words};
  if (narrow) return {.lanes = max_threads, .fours = 512 / words, .weights = 2560 / words};
  return {.lanes = max_threads, .fours = 1792 / words, .weights = 1280 / words};
}
constexpr int blocks_at_once(bool relative, bool sums) { return words > 1 ? 1 : sums ? (relative ? 6 : 8) : 4; }

// Sums dk and dv of a tile, (keys, D) and (keys, Dv). A thread sums eight channels of a key; a warp, only dk or dv.
template <int L, class Weights, class Rows>
__device__ inline void sum_over_queries(const Accumulator& dk, int D, const Accumulator& dv, int Dv, Weights& weights,
                                        Rows& query_rows, const AttentionArgs& x, const Tiling& cut, int kv_head,
                                        const WeightTile& tile) {
  const int lanes = L ? L : cut.lanes, fours = 2 * lanes, stride = cut.keys + 1;
  const int of_kind = ceil_div(cut.sequences * cut.keys * lanes, warp) * warp;
  for (int e = int(threadIdx.x); e < 2 * of_kind; e += int(blockDim.x)) {
    const bool of_v = e >= of_kind;
    const int item = e - of_v * of_kind, column = quotient(item, lanes), lane = item - column * lanes;
    const int n = quotient(column, cut.keys), j = column - n * cut.keys, width = of_v ? Dv : D;
    const Accumulator sum = of_v ? dv : dk;
    if (!sum.at || n >= cut.sequences || tile.b0 + n >= x.batch || j >= tile.keys) continue;
    const int first = (of_v * cut.sequences + n) * cut.queries;
    Eight total{};
    UNROLL_2 for (int i = tile.begin; i < tile.rows; ++i)
      add_scaled(total, weights[(first + i) * stride + j], eight(query_rows, (first + i) * fours + 2 * lane));
    real* const key = sum.at + key_row(x, tile.b0 + n, tile.j0 + j, kv_head) * width;
    put(key, sum.empty && tile.i0 == 0, lane * lane_channels, width, cut.whole, total);
  }
}

// Blocks: (groups of sequences, key heads), each for all queries from .. to of the heads that read its keys, so that
// every sum has one owner. For each tile of keys a thread first takes a query row, leaves gain du and a of the tile in
// shared memory, and collects dq. Then it takes eight channels of a dk or dv, and goes along the queries. Last, if
// `sums`, it takes a diagonal (cuda/row_sums.cuh). If not plain, dk and dv already hold values (are not `empty`):
// keys that no query of a tile sees are skipped.
template <int L, bool relative, bool plain, bool sums>
__global__ void __launch_bounds__(room_of(L == 1, relative, sums).threads(), blocks_at_once(relative, sums))
    attend_backward(const AttentionGrads d, const AttentionArgs x, const Tiling cut, const real* d_o, const real* o,
                    const real* stats, const LogitGrads wanted, const BiasSums bias_sums, const DiagonalSums diagonals,
                    int from, int to) {
  static_assert(!sums || (L == 1 && plain));
  constexpr Room room = room_of(L == 1, relative, sums);
  SHARED(Four, pool, room.fours);
  SHARED(Four, query_rows, (sums && relative ? 6 : 4) * room.lanes);   // scale q; do; and scale q_rel, for its sums
  SHARED(real, weights, 2 * room.weights);                             // gain du, then a: (query rows, cut.keys + 1)
  const int lanes = L ? L : cut.lanes, fours = 2 * lanes;
  const int kv_head = int(blockIdx.y), b0 = int(blockIdx.x) * cut.sequences;
  const int D = x.head_dim, Dv = plain ? D : x.value_dim, R = x.rel_dim;
  const int stride = cut.keys + 1;      // odd, to avoid bank conflicts
  const int rows = cut.sequences * cut.queries, group = plain ? 1 : x.heads / x.kv_heads;
  for (int head = kv_head * group; head < kv_head * group + group; ++head)
    for (int i0 = from; i0 < to; i0 += cut.queries) {
      const int end = smaller(i0 + cut.queries, to);
      const QueryRow me = own_row<L>(x, cut, b0, i0, end);
      const Tile tile = tile_of<L, relative>(x, cut, me);
      const int64_t query = query_row(x, me.b, me.i, head), row = weight_row(x, me.b, head, me.i);
      const int c = me.lane * lane_channels;
      const real max = stats[2 * row], inverse = stats[2 * row + 1];
      const real temperature = plain ? real(1) : temperature_of(x, me.b, head, me.i);
      Eight dy = eight(d_o + query * Dv, c, Dv, cut.whole);
      const real delta = over_lanes<L>(dot(dy, eight(o + query * Dv, c, Dv, cut.whole)), lanes);
      Eight q_rel{}, dq_rel{};
      real dtemperature = 0;
      if constexpr (relative) q_rel = scaled_q_rel(x, query, head, c, cut.whole);
      const bool writes = me.alive && me.lane == 0;
      const int own = me.at * stride;
      const auto no_weights = [&](int from, int to) {
        for (int j = from; j < to && writes; ++j) weights[own + j] = 0, weights[own + rows * stride + j] = 0;
      };
      const int64_t own_column = (int64_t(me.b) * x.heads + head) * x.keys * (to - from) + me.i - from;
      for (int p = 0; p < (plain ? 1 : x.pieces); ++p) {
        Eight q = scaled_query(x, plain ? 0 : p, query, head, c, cut.whole);
        Eight dq{};
        const KeyRange seen = keys_of<plain>(x, p, me.b, me.i), of_block = keys_of_block<plain>(x, cut, p, b0, i0, end);
        const KeyRange of_warp{plain ? 0 : -warp_max(-seen.first), warp_max(seen.end)};
        // if plain, the first tile of queries writes all keys
        const int until = plain && i0 == 0 ? x.keys : of_block.end;
        __syncthreads();  // no thread reads the shared memory any more
        if (me.alive) {
          const int at = me.at * fours + 2 * me.lane;
          query_rows[at] = q.low, query_rows[at + 1] = q.high;
          query_rows[rows * fours + at] = dy.low, query_rows[rows * fours + at + 1] = dy.high;
          if constexpr (sums && relative)
            query_rows[4 * rows + me.at] = q_rel.low, query_rows[5 * rows + me.at] = q_rel.high;
        }
        if (of_block.first < until) fill<L, relative, plain>(pool, x, cut, p, b0, head, i0, of_block.first);
        for (int j0 = of_block.first; j0 < until; j0 += cut.keys) {
          arrived(pool);
          __syncthreads();
          if constexpr (sums) {       // read for each tile again: the sums below need the registers
            const int at = me.at * fours;
            q = eight(query_rows, at), dy = eight(query_rows, rows * fours + at);
            if constexpr (relative) q_rel = halves(query_rows, 4 * rows + me.at, rows);
          }
          const int here = smaller(cut.keys, x.keys - j0), lit = larger(0, smaller(here, of_warp.end - j0));
          const int dark = plain ? 0 : smaller(lit, larger(0, of_warp.first - j0));
          no_weights(0, dark);
          UNROLL_2 for (int j = dark; j < lit; ++j) {
            const int key = j * tile.key_step, pair = j * tile.pair_step;
            const Eight k = eight(pool, tile.k + key);
            Eight r{};
            if constexpr (relative) r = eight(pool, tile.r + pair);
            const real product = over_lanes<L>(dots<relative>(q, k, q_rel, r), lanes);
            real gain = 1, u = product;
            if constexpr (!plain)
              if (x.gain) gain = Four(pool[tile.factors + pair]).c[1], u *= gain;
            if (x.bias) u += Four(pool[tile.factors + pair]).c[0];
            const bool is_seen = j0 + j < seen.end && (plain || j0 + j >= seen.first);
            const real a = is_seen ? exp((plain ? u : temperature * u) - max) * inverse : real(0);
            real du = a * (over_lanes<L>(dot(dy, eight(pool, tile.v + key)), lanes) - delta);
            if (!is_seen) du = 0;                                   // a may be 0 and do . v infinite
            if constexpr (!plain) {
              if (du != 0) dtemperature += du * u;                  // u may be -infinite where du is 0
              du *= temperature;
            }
            const real dlogit = plain ? du : gain * du;
            add_scaled(dq, dlogit, k);
            if constexpr (relative) add_scaled(dq_rel, dlogit, r);
            if (!writes) continue;
            weights[own + j] = dlogit, weights[own + rows * stride + j] = a;
            if constexpr (!sums)
              if (wanted.du && is_seen) {
                const int64_t at = own_column + int64_t(j0 + j) * (to - from);
                wanted.du[at] = du;
                if constexpr (!plain)
                  if (wanted.dgain) wanted.dgain[at] = du * product;
              }
          }
          no_weights(larger(dark, lit), here);
          __syncthreads();
          if (j0 + cut.keys < until) fill<L, relative, plain>(pool, x, cut, p, b0, head, i0, j0 + cut.keys);
          const int begin = x.causal ? larger(0, j0 - x.offset - i0) : 0;
          const WeightTile pairs{b0, head, i0, j0, begin, end - i0, here, j0 == 0, j0 + cut.keys >= until};
          sum_over_queries<L>(d.k[plain ? 0 : p], D, d.v, Dv, weights, query_rows, x, cut, kv_head, pairs);
          if constexpr (sums)
            if (diagonals.pitch)
              sum_diagonals<relative, room.diagonals>(diagonals, weights, query_rows, x, cut, pairs);
        }
        multiply(dq, x.scale);
        const Accumulator sum = d.q[plain ? 0 : p];
        if (me.alive && sum.at) put(sum.at + query * D, sum.empty, c, D, cut.whole, dq);
        if (bias_sums.q && p == 0) sum_over_rows(bias_sums.q, bias_sums.pitch, i0 == from, head, D, me, lanes, dq);
      }
      multiply(dq_rel, x.scale);
      if (relative && bias_sums.q_rel)
        sum_over_rows(bias_sums.q_rel, bias_sums.pitch, i0 == from, head, R, me, lanes, dq_rel);
      if (!me.alive) continue;
      if (relative && d.q_rel.at) put(d.q_rel.at + query * R, d.q_rel.empty, c, R, cut.whole, dq_rel);
      if constexpr (!plain)
        if (wanted.dtemperature && writes) wanted.dtemperature[row] = dtemperature;
    }
}

template <int L, bool relative>
void start_backward(const AttentionPass& p, const Tiling& cut, bool plain, bool sums, int from, int to) {
  const AttentionArgs& x = p.x;
  const dim3 blocks(unsigned(ceil_div(x.batch, cut.sequences)), unsigned(x.kv_heads));
  const int64_t n = p.d.q_bias ? int64_t(x.heads) * x.head_dim : 0;
  const int64_t n_rel = p.d.q_rel_bias ? int64_t(x.heads) * x.rel_dim : 0;
  const OfDiagonals rows = sums ? of_diagonals(p.d, x) : OfDiagonals{};
  const int warps = int(blocks.x) * (cut.threads() / warp);
  AttentionGrads d = p.d;                                     // the gradients that the kernel itself adds to
  d.r = d.bias = d.q_bias = d.q_rel_bias = {};
  const int64_t of_warps = ceil_div(warps * (n + n_rel), 4) * 4, all = of_warps + x.batch * rows.pitch;
  real* const partial = all ? room_for_sums(all) : nullptr;
  BiasSums biases{.pitch = n + n_rel};
  if (n) biases.q = partial;
  if (n_rel) biases.q_rel = partial + n;
  DiagonalSums diagonals{.pitch = rows.pitch};
  if (rows.r) diagonals.r = partial + of_warps;
  if (rows.bias) diagonals.bias = partial + of_warps + rows.r;
  auto* kernel = plain ? attend_backward<L, relative, true, false> : attend_backward<L, relative, false, false>;
  if constexpr (L == 1)
    if (sums) kernel = attend_backward<L, relative, true, true>;
  launch(kernel, blocks, cut.threads(), d, x, cut, p.d_o, p.o, p.stats, p.wanted, biases, diagonals, from, to);
  add_up_later({p.d.q_bias, biases.q, n, biases.pitch, warps});
  add_up_later({p.d.q_rel_bias, biases.q_rel, n_rel, biases.pitch, warps});
  add_up_later({p.d.r, diagonals.r, rows.r, rows.pitch, x.batch});
  add_up_later({p.d.bias, diagonals.bias, rows.bias, rows.pitch, x.batch});
}

// The forms of the tiles, from the fastest to the most general. `diagonals` is plain, for heads of eight channels and
// pairs by distance: the blocks sum the gradients of distances themselves, and du is never written.
enum class Tiles { diagonals, plain, any };

Tiles form_of(const AttentionGrads& d, const AttentionArgs& x) {
  if (!is_plain(x)) return Tiles::any;
  return channels_of(x) <= lane_channels && !x.pairs && diagonals_fit(d, x) ? Tiles::diagonals : Tiles::plain;
}

void in_tiles(const AttentionPass& p, Tiles form, int from, int to) {
  const AttentionArgs& x = p.x;
  const bool sums = form == Tiles::diagonals;
  Tiling cut = tiling_for(x, room_of(channels_of(x) <= lane_channels, x.q_rel, sums));
  cut.whole = in_fours(x) && aligned(p.d_o) && aligned(p.o) && aligned(p.d.v.at) && aligned(p.d.q_rel.at);
  for (int n = 0; n < x.pieces; ++n) cut.whole = cut.whole && aligned(p.d.q[n].at) && aligned(p.d.k[n].at);
  const auto start_it = cut.lanes == 1 ? (x.q_rel ? start_backward<1, true> : start_backward<1, false>)
                                       : (x.q_rel ? start_backward<0, true> : start_backward<0, false>);
  start_it(p, cut, form != Tiles::any, sums, from, to);
}

// The backward pass of sequences b .. b + n - 1 alone.
AttentionPass some(const AttentionPass& all, int b, int n, bool first) {
  AttentionPass p = all;
  const int64_t q = int64_t(b) * all.x.queries * all.x.heads, k = int64_t(b) * all.x.keys * all.x.kv_heads;
  const auto advance = [](Accumulator& s, int64_t by) {
    if (s) s.at += by;
  };
  for (int n = 0; n < all.x.pieces; ++n) {
    advance(p.d.q[n], q * all.x.head_dim), advance(p.d.k[n], k * all.x.head_dim);
    if (!first) p.d.k[n].empty = false;
  }
  advance(p.d.q_rel, q * all.x.rel_dim), advance(p.d.v, k * all.x.value_dim);
  if (!first) p.d.v.empty = false;
  p.x = sequences(all.x, b, n);
  p.d_o += q * all.x.value_dim, p.o += q * all.x.value_dim, p.stats += 2 * q;
  if (p.wanted.dtemperature) p.wanted.dtemperature += q;
  return p;
}

void clear(Accumulator& sum, int64_t n) {
  if (sum && sum.empty) fill(sum.at, 0, n), sum.empty = false;
}

}  // namespace

void attention_backward(const AttentionGrads& grads, const AttentionArgs& x, const real* d_o, const real* o,
                        const real* stats) {
  AttentionGrads d = grads;
  const Route route = route_of(x, d);
  const Tiles form = form_of(d, x);
  if (route == Route::general && (x.q_bias || x.q_rel_bias))
    return backward_of_sums(grads, x, [&](const AttentionGrads& of_sums, const AttentionArgs& args) {
      attention_backward(of_sums, args, d_o, o, stats);
    });
  if (route == Route::wide ? !distinct(d) : route == Route::general || form == Tiles::any) {
    const int64_t keys = int64_t(x.batch) * x.keys * x.kv_heads;
    for (int p = 0; p < x.pieces; ++p) clear(d.k[p], keys * x.head_dim);
    clear(d.v, keys * x.value_dim);
  }
  if (route == Route::tiles && form == Tiles::diagonals) {
    const int64_t rows = int64_t(x.rows) * x.heads;
    if (x.rows > diagonals_of(x)) clear(d.r, rows * x.rel_dim), clear(d.bias, rows);     // rows that no pair has
    return in_tiles({d, x, d_o, o, stats, {}}, form, 0, x.queries);
  }
  RowSum sums[] = {{.to = d.r, .y = x.q_rel, .y_bias = x.q_rel_bias, .gain = x.gain, .n = x.rel_dim, .factor = x.scale},
                   {.to = d.bias},
                   {.to = d.gain, .of_gain = true}};
  constexpr int count = 3;
  const bool of_rows = d.r || d.bias || d.gain, own_pairs = x.pairs && x.pairs_batch > 1;
  const bool in_memory = of_rows || route == Route::general;
  // If du must be kept in memory, so few queries and sequences run at once that du and g stay within bounds.
  int queries = x.queries, batch = x.batch;
  if (in_memory) {
    const int64_t of_query = int64_t(x.heads) * x.keys * (d.r && !own_pairs ? larger(1, x.rel_dim) : 1);
    while (queries > 1 && !own_pairs && queries * of_query > max_weights) queries = ceil_div(queries, 2);
    while (batch > 1 && int64_t(batch) * x.heads * x.keys * queries > max_weights) batch = ceil_div(batch, 2);
  }
  const int64_t weights = int64_t(batch) * x.heads * x.keys * queries, pairs = int64_t(x.heads) * x.keys * queries;
  LogitGrads wanted;
  if (in_memory) wanted.du = scratch(1, weights);
  if (d.gain) wanted.dgain = scratch(2, weights);
  if (d.temperature) wanted.dtemperature = scratch(3, int64_t(x.batch) * x.heads * x.queries);
  real* g[count] = {};
  for (int s = 0; s < count; ++s)
    if (sums[s].to && !own_pairs) g[s] = scratch(4 + s, pairs * sums[s].n);
  for (int from = 0; from < x.queries; from += queries) {
    const int to = smaller(from + queries, x.queries);
    for (int b = 0; b < x.batch; b += batch) {
      const AttentionPass pass = some({d, x, d_o, o, stats, wanted}, b, smaller(batch, x.batch - b), from == 0);
      if (route == Route::wide) wide::backward(pass, from, to);
      else if (route == Route::tiles) in_tiles(pass, form, from, to);
      else general::backward(pass, from, to);
      d.q_bias.empty = d.q_rel_bias.empty = false;             // the next sequences and queries add to them
      for (int s = 0; s < count; ++s) {
        if (!sums[s].to) continue;
        RowSum sum = sums[s];
        if (sum.y) sum.y = pass.x.q_rel;
        const real* weights_of = sum.of_gain ? wanted.dgain : wanted.du;
        if (g[s])
          start_collect(g[s], b > 0, weights_of, sum, pass.x, from, to);
        else
          start_gather(sum, nullptr, weights_of, pass.x, from, to), sums[s].to.empty = false;
      }
    }
    for (int s = 0; s < count; ++s)
      if (g[s]) start_gather(sums[s], g[s], nullptr, x, from, to), sums[s].to.empty = false;
  }
  if (d.temperature) start_temperature(d.temperature, wanted.dtemperature, x);
}

}  // namespace poslab::cuda
