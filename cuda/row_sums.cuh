// The derivatives that sum over the whole batch. With du and p as in cuda/logits.cuh, over all b, i, j whose
// pair(i,j) is row p:
//
//   dr[p] += scale gain[p] sum du_bij q_rel_bi    dbias[p] += sum du_bij     dgain[p] += sum du_bij p_bij
//
// If the sequences share their pairs, the batch is summed first: g_ij = sum_b du_bij q_rel_bi. Then each row gathers
// the pairs that name it, in a fixed order: atomics would be simpler, but give different bits every time.
//
// Without a table of pairs a row is a diagonal of du. If the sums of single sequences are few, a block of the backward
// pass adds up the diagonals of the weights that lie in its shared memory, and du is not written at all.
#pragma once
#include "cuda/logits.cuh"

namespace poslab::cuda {

// One of the three results: to[p] += factor gain[p] sum du_bij y_bi
struct RowSum {
  Accumulator to;
  const real* y = nullptr;      // q_rel, or null: ones
  const real* y_bias = nullptr; // (heads, n): added to y, or null
  const real* gain = nullptr;   // (rows, heads), or null: ones
  int n = 1;                    // channels of y
  real factor = 1;
  bool of_gain = false;         // the sum is of du_bij p_bij
  FIELDS(RowSum, to, y, y_bias, gain, n, factor, of_gain)
};

namespace {

// Where each sequence leaves its sums of diagonals, `pitch` apart, or null. Row 0 is that of the last query and the
// first key: (queries + keys - 1, heads, rel_dim) and (queries + keys - 1, heads)
struct DiagonalSums {
  real *r = nullptr, *bias = nullptr;
  int64_t pitch = 0;
  FIELDS(DiagonalSums, r, bias, pitch)
};

constexpr int64_t most_diagonal_sums = 2 << 20;   // reals of all sequences; at most 8 Mi in all may wait (cuda/sums.cu)
inline int diagonals_of(const AttentionArgs& x) { return x.queries + x.keys - 1; }

// How many reals one sequence has in these sums.
struct OfDiagonals {
  int64_t r = 0, bias = 0, pitch = 0;
};
inline OfDiagonals of_diagonals(const AttentionGrads& d, const AttentionArgs& x) {
  OfDiagonals n;
  if (d.r) n.r = int64_t(diagonals_of(x)) * x.heads * x.rel_dim;
  if (d.bias) n.bias = int64_t(diagonals_of(x)) * x.heads;
  n.pitch = (n.r + n.bias + 3) / 4 * 4;
  return n;
}
// Row 0 of the sums must be row 0 of dr: waiting sums are found by the address of the whole array (cuda/launch.h).
inline bool diagonals_fit(const AttentionGrads& d, const AttentionArgs& x) {
  return (!d.r && !d.bias) ||
         (row_of_distance_0(x) == x.queries - 1 && x.batch * of_diagonals(d, x).pitch <= most_diagonal_sums);
}

// A tile of weights in shared memory: `rows` queries from i0 of each sequence from b0, by `keys` from j0. The first
// `begin` queries see none of the keys.
struct WeightTile {
  int b0, head, i0, j0, begin, rows, keys;
  bool first, last;                  // whether it is the first, the last tile of these queries
};

// Rows of eight channels whose first halves lie side by side, and after them the second halves, so that neighbours are
// in different banks of shared memory.
template <class Pool>
__device__ inline Eight halves(Pool& pool, int at, int rows) {
  const Four low = pool[at], high = pool[at + rows];
  return {low, high};
}

// Adds up du_ij scale q_rel_i, and du_ij, of each diagonal j - i of a tile. The next tile of keys has most of the
// diagonals, too: incomplete sums wait in shared memory, in a ring.
//   weights: du, (query rows, cut.keys + 1)     query_rows: q and do, (2, query rows, 8), and halves of scaled q_rel
template <bool relative, int room, class Weights, class Rows>
__device__ inline void sum_diagonals(const DiagonalSums& sums, Weights& weights, Rows& query_rows,
                                     const AttentionArgs& x, const Tiling& cut, const WeightTile& tile) {
  SHARED(Four, waiting, relative ? 2 * room : 1);
  SHARED(real, waiting_bias, room);
  const int stride = cut.keys + 1, count = cut.queries + cut.keys - 1, all_rows = cut.sequences * cut.queries;
  for (int e = int(threadIdx.x); e < cut.sequences * count; e += int(blockDim.x)) {
    const int n = quotient(e, count), c = e - n * count, ahead = c - (cut.queries - 1);   // key i + ahead of the tile
    if (tile.b0 + n >= x.batch) continue;
    const int row0 = n * cut.queries, end = smaller(tile.rows, tile.keys - ahead);
    Eight total{};
    real of_bias = 0;
    UNROLL_2 for (int i = larger(tile.begin, -ahead); i < end; ++i) {
      const real weight = weights[(row0 + i) * stride + i + ahead];
      if constexpr (relative) add_scaled(total, weight, halves(query_rows, 4 * all_rows + row0 + i, all_rows));
      of_bias += weight;
    }
    const int ring = quotient(tile.j0 + c, count), slot = n * count + tile.j0 + c - ring * count;
    if (!tile.first && c < cut.queries - 1) {
      if constexpr (relative) add_scaled(total, 1, halves(waiting, slot, room));
      if (sums.bias) of_bias += waiting_bias[slot];
    }
    if (!tile.last && c >= cut.keys) {
      if constexpr (relative) waiting[slot] = total.low, waiting[room + slot] = total.high;
      if (sums.bias) waiting_bias[slot] = of_bias;
      continue;
    }
    const int row = tile.j0 - tile.i0 + ahead + x.queries - 1;
    if (row < 0 || row >= x.queries + x.keys - 1) continue;
    const bool empty = tile.i0 == 0 || row < x.queries - tile.i0;   // else earlier queries have this diagonal, too
    const int64_t sequence = (tile.b0 + n) * sums.pitch, to = int64_t(row) * x.heads + tile.head;
    if constexpr (relative)
      if (sums.r) put(sums.r + sequence + to * x.rel_dim, empty, 0, x.rel_dim, cut.whole, total);
    if (sums.bias) add_to({sums.bias + sequence, empty}, to, of_bias);
  }
}

constexpr int warps = 8;  // warps of each block here
constexpr int collect_keys = 4;

// g = or += sum_b du_bij y_bi             g: (to - from, keys, heads, n)   du: (batch, heads, keys, to - from)
// Blocks: (tiles of 32 queries x 4 keys, heads x groups of 8 channels). The warps share the batch, lanes the queries.
template <bool plain>
__global__ void collect(real* g, bool add, const real* du, const RowSum sum, const AttentionArgs x, int from, int to,
                        bool whole) {
  SHARED(real, part, warps * warp * (lane_channels + 1));
  const int groups = ceil_div(sum.n, lane_channels), tiles = ceil_div(x.keys, collect_keys), queries = to - from;
  const int head = int(blockIdx.y) / groups, c0 = int(blockIdx.y) % groups * lane_channels;
  const int i0 = int(blockIdx.x) / tiles * warp, j0 = int(blockIdx.x) % tiles * collect_keys;
  const int lane = int(threadIdx.x) % warp, at = i0 + lane, i = from + at;
  const int end = at < queries ? keys_of<true>(x, 0, 0, i).end : 0;  // where the seen keys end, if plain
  Eight total[collect_keys] = {};
  for (int b0 = int(threadIdx.x) / warp; b0 < x.batch && at < queries; b0 += 2 * warps) {
    Eight y[2] = {};  // for two sequences, so that more loads are under way
    real weight[2][collect_keys] = {};
    UNROLL for (int v = 0; v < 2; ++v) {
      const int b = b0 + v * warps;
      if (b >= x.batch) continue;
      y[v].low.c[0] = 1;
      if (sum.y) y[v] = eight(sum.y + query_row(x, b, i, head) * sum.n, c0, sum.n, whole);
      if (sum.y_bias) add_scaled(y[v], 1, eight(sum.y_bias + head * sum.n, c0, sum.n, whole));
      const real* column = du + ((int64_t(b) * x.heads + head) * x.keys + j0) * queries + at;
      UNROLL for (int u = 0; u < collect_keys; ++u)
        if (plain ? j0 + u < end : piece_of<plain>(x, b, i, j0 + u) >= 0) weight[v][u] = column[int64_t(u) * queries];
    }
    UNROLL for (int v = 0; v < 2; ++v)
      UNROLL for (int u = 0; u < collect_keys; ++u)
        if (plain ? j0 + u < end : weight[v][u] != 0) add_scaled(total[u], weight[v][u], y[v]);
  }
  // Thread t adds up the warps' sums for query t / 8 of the tile and channel t % 8.
  const int row = int(threadIdx.x) / lane_channels, c = int(threadIdx.x) % lane_channels;
  for (int u = 0; u < collect_keys; ++u) {
    __syncthreads();
    for (int e = 0; e < 4; ++e) {
      part[int(threadIdx.x) * (lane_channels + 1) + e] = total[u].low.c[e];
      part[int(threadIdx.x) * (lane_channels + 1) + 4 + e] = total[u].high.c[e];
    }
    __syncthreads();
    real all_warps = 0;
    for (int w = 0; w < warps; ++w) all_warps += part[(w * warp + row) * (lane_channels + 1) + c];
    if (i0 + row >= queries || j0 + u >= x.keys || c0 + c >= sum.n) continue;
    real& to_g = g[((int64_t(i0 + row) * x.keys + j0 + u) * x.heads + head) * sum.n + c0 + c];
    to_g = add ? to_g + all_warps : all_warps;
  }
}

// Without a table of pairs a row is a diagonal of g. Blocks: (rows, columns of g / 32). The warps share the queries.
__global__ void gather_diagonal(const RowSum sum, const real* g, const AttentionArgs x, int from, int to) {
  SHARED(real, part, warps * warp);
  const int lane = int(threadIdx.x) % warp, w = int(threadIdx.x) / warp, columns = x.heads * sum.n;
  const int p = int(blockIdx.x), column = int(blockIdx.y) * warp + lane;
  const int ahead = p - row_of_distance_0(x);  // j = i + ahead, see pair_row
  const int begin = larger(from, -ahead), end = column < columns ? smaller(to, x.keys - ahead) : 0;
  const real* at = g + (int64_t(begin + w - from) * x.keys + begin + w + ahead) * columns + column;
  real total = 0;
  for (int i = begin + w; i < end; i += warps, at += int64_t(warps) * (x.keys + 1) * columns) total += *at;
  part[int(threadIdx.x)] = total;
  __syncthreads();
  if (w > 0 || column >= columns) return;
  for (int other = 1; other < warps; ++other) total += part[other * warp + lane];
  const real gain = sum.gain ? sum.gain[p * x.heads + column / sum.n] : real(1);
  add_to(sum.to, int64_t(p) * columns + column, sum.factor * gain * total);
}

// A block takes a few rows, and searches the whole table of pairs for them; each warp has its share, and sums
// of its own. A warp takes several pairs at a time: each read waits for memory. With du alone it takes one: the bias
// of T5 has so few rows that two blocks have all pairs, and eight at a time took longer. `of_g`: the table and the
// weights come from g, or else from du of all sequences, and a pair adds one product.
// Blocks: (rows / at_once, columns / 64)
constexpr int at_once = 16 / words, of_lane = 2;
template <bool plain, bool of_g, int pairs_at_once>
__global__ void gather_pairs(const RowSum sum, const real* weights, const AttentionArgs x, const int* pairs,
                             int64_t count) {
  SHARED(real, part, warps * at_once * of_lane * warp);
  const int lane = int(threadIdx.x) % warp, w = int(threadIdx.x) / warp, columns = x.heads * sum.n;
  const int first = int(blockIdx.x) * at_once, column = int(blockIdx.y) * of_lane * warp + lane;
  for (int e = lane; e < at_once * of_lane * warp; e += warp) part[w * at_once * of_lane * warp + e] = 0;
  constexpr int run = 4 * warp;  // pairs that a warp looks at together
  for (int64_t e0 = int64_t(w) * run; e0 < count; e0 += warps * run) {
    int place[4];
    for (int u = 0; u < 4; ++u) {
      const int64_t e = e0 + u * warp + lane;
      place[u] = e < count ? pairs[e] - first : -1;
    }
    int found[pairs_at_once];
    do {  // finds pairs, each stored as (row of the block) run + place in the run
      for (int& one : found) one = -1;
      UNROLL for (int& one : found) {
        for (int u = 0; u < 4; ++u)
          if (place[u] >= 0 && place[u] < at_once) one = larger(one, place[u] * run + u * warp + lane);
        one = warp_max(one);
        if (one < 0) break;
        for (int u = 0; u < 4; ++u)
          if (place[u] * run + u * warp + lane == one) place[u] = -1;
      }
      if (found[0] < 0) break;
      real weight[pairs_at_once][of_lane] = {}, y[pairs_at_once][of_lane] = {};  // all are loaded before any is used
      const int64_t row0 = e0 / x.keys;
      UNROLL for (int v = 0; v < pairs_at_once; ++v) {
        const int place_in_run = larger(found[v], 0) % run;     // 0, a pair that exists, if none was found
        const int ahead = int(e0 - row0 * x.keys) + place_in_run, down = quotient(ahead, x.keys);
        const int row = int(row0) + down, b = quotient(row, x.queries), i = row - b * x.queries;
        const int j = ahead - down * x.keys;
        const bool there = found[v] >= 0 && (of_g || piece_of<plain>(x, b, i, j) >= 0);
        UNROLL for (int u = 0; u < of_lane; ++u) {
          const int at = column + u * warp, head = quotient(at, sum.n);
          if (!there || at >= columns) continue;
          if constexpr (of_g) {
            weight[v][u] = weights[(e0 + place_in_run) * columns + at];
          } else {
            weight[v][u] = weights[(weight_row(x, b, head, 0) * x.keys + int64_t(j) * x.queries) + i];
            if (sum.y) y[v][u] = sum.y[query_row(x, b, i, head) * sum.n + at - head * sum.n];
          }
        }
      }
      UNROLL for (int u = 0; u < of_lane; ++u) {
        const int at = column + u * warp;
        const real bias = sum.y_bias && at < columns ? sum.y_bias[at] : real(0);
        UNROLL for (int v = 0; v < pairs_at_once; ++v) {
          if (found[v] < 0) continue;
          const real value = !of_g && sum.y ? weight[v][u] * (y[v][u] + bias) : weight[v][u];
          part[((w * at_once + found[v] / run) * of_lane + u) * warp + lane] += value;
        }
      }
    } while (found[pairs_at_once - 1] >= 0);
  }
  __syncthreads();
  for (int e = int(threadIdx.x); e < at_once * of_lane * warp; e += int(blockDim.x)) {
    const int row = first + e / (of_lane * warp), at = column - lane + e % (of_lane * warp);
    real total = 0;
    for (int v = 0; v < warps; ++v) total += part[v * at_once * of_lane * warp + e];
    if (row >= x.rows || at >= columns) continue;
    const real gain = sum.gain ? sum.gain[row * x.heads + at / sum.n] : real(1);
    add_to(sum.to, int64_t(row) * columns + at, sum.factor * gain * total);
  }
}

inline void start_collect(real* g, bool add, const real* du, const RowSum& sum, const AttentionArgs& x, int from,
                          int to) {
  const int tiles = ceil_div(to - from, warp) * ceil_div(x.keys, collect_keys);
  const dim3 blocks(unsigned(tiles), unsigned(x.heads * ceil_div(sum.n, lane_channels)));
  launch(is_plain(x) ? collect<true> : collect<false>, blocks, warps * warp, g, add, du, sum, x, from, to,
         sum.n % 4 == 0 && aligned(sum.y) && aligned(sum.y_bias));
}

// If g is null, each sequence has its own pairs, and du of all sequences is read.
inline void start_gather(const RowSum& sum, const real* g, const real* du, const AttentionArgs& x, int from, int to) {
  const int columns = x.heads * sum.n;
  const int64_t queries = g ? to - from : int64_t(x.batch) * x.queries, first = g ? from : 0;
  if (!x.pairs)
    launch(gather_diagonal, dim3(unsigned(x.rows), unsigned(ceil_div(columns, warp))), warps * warp, sum, g, x, from,
           to);
  else
    launch(g             ? gather_pairs<true, true, 8>
           : is_plain(x) ? (sum.y ? gather_pairs<true, false, 8> : gather_pairs<true, false, 1>)
           : sum.y       ? gather_pairs<false, false, 8>
                         : gather_pairs<false, false, 1>,
           dim3(unsigned(ceil_div(x.rows, at_once)), unsigned(ceil_div(columns, of_lane * warp))), warps * warp, sum,
           g ? g : du, x, x.pairs + first * x.keys, queries * x.keys);
}

// dtemperature += the sums over all rows, (batch, heads, queries), that share a temperature. A warp takes one of these.
__global__ void temperature_sums(const Accumulator to, const real* rows, const AttentionArgs x) {
  const int lane = int(threadIdx.x) % warp, of_batch = x.temperature_batch == 1 ? x.batch : 1;
  const int heads = x.temperature_heads, of_head = heads == 1 ? x.heads : 1;
  const int64_t count = int64_t(x.temperature_batch) * x.queries * heads, step = int64_t(gridDim.x) * blockDim.x / warp;
  for (int64_t e = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp; e < count; e += step) {
    const int head = int(e % heads), i = int(e / heads % x.queries), b = int(e / heads / x.queries);
    real sum = 0;
    for (int n = lane; n < of_batch * of_head; n += warp)
      sum += rows[weight_row(x, b + n / of_head, head + n % of_head, i)];
    sum = warp_sum(sum);
    if (lane == 0) add_to(to, e, sum);
  }
}
inline void start_temperature(const Accumulator& to, const real* rows, const AttentionArgs& x) {
  const int64_t count = int64_t(x.temperature_batch) * x.queries * x.temperature_heads;
  launch(temperature_sums, blocks_for(count * warp), threads, to, rows, x);
}

}  // namespace
}  // namespace poslab::cuda
