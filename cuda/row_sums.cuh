// The derivatives of the rows of r and bias, which collect from the whole batch:
//
//   dr[p] += scale sum_bij [pair(i,j) = p] ds_bij q_rel_bi         dbias[p] += the same without scale, of ds_bij alone
//
// If the sequences share their pairs, the batch is summed first: g_ij = sum_b ds_bij q_rel_bi. Then each row gathers
// the pairs that name it, in a fixed order: atomics would be simpler, and end in other bits every time.
#pragma once
#include "cuda/logits.cuh"

namespace poslab::cuda {

// One of the two results: y is q_rel, or null for ones; n its channels.
struct RowSum {
  Accumulator to;
  const real* y;
  int n;
  real factor;
  FIELDS(RowSum, to, y, n, factor)
};

namespace {

constexpr int warps = 8;  // of the blocks here
constexpr int collect_keys = 4;

// g = or += sum_b ds_bij y_bi             g: (to - from, keys, heads, n)   ds: (batch, heads, keys, to - from)
// Blocks: (tiles of 32 queries x 4 keys, heads x pieces of 8 channels). The warps share the batch; a lane has a query.
__global__ void collect(real* g, bool add, const real* ds, RowSum sum, AttentionArgs x, int from, int to, bool whole) {
  SHARED(real, part, warps * warp * (piece + 1));
  const int pieces = parts(sum.n, piece), tiles = parts(x.keys, collect_keys), queries = to - from;
  const int head = int(blockIdx.y) / pieces, c0 = int(blockIdx.y) % pieces * piece;
  const int i0 = int(blockIdx.x) / tiles * warp, j0 = int(blockIdx.x) % tiles * collect_keys;
  const int lane = int(threadIdx.x) % warp, at = i0 + lane, i = from + at;
  const int seen = at < queries ? smaller(seen_by(x, i), x.keys) : 0;
  Eight total[collect_keys] = {};
  for (int b0 = int(threadIdx.x) / warp; b0 < x.batch && at < queries; b0 += 2 * warps) {
    Eight y[2] = {};  // of two sequences: more loads under way at a time
    real weight[2][collect_keys] = {};
    for (int v = 0; v < 2; ++v) {
      const int b = b0 + v * warps;
      if (b >= x.batch) continue;
      y[v].low.c[0] = 1;
      if (sum.y) y[v] = eight(sum.y + query_row(x, b, i, head) * sum.n, c0, sum.n, whole);
      const real* column = ds + ((int64_t(b) * x.heads + head) * x.keys + j0) * queries + at;
      for (int u = 0; u < collect_keys; ++u)
        if (j0 + u < seen) weight[v][u] = column[int64_t(u) * queries];
    }
    for (int v = 0; v < 2; ++v)
      for (int u = 0; u < collect_keys; ++u)
        if (j0 + u < seen) add_scaled(total[u], weight[v][u], y[v]);
  }
  // Thread t adds up what the warps have for query t / 8 of the tile and channel t % 8.
  const int row = int(threadIdx.x) / piece, c = int(threadIdx.x) % piece;
  for (int u = 0; u < collect_keys; ++u) {
    __syncthreads();
    for (int e = 0; e < 4; ++e) {
      part[int(threadIdx.x) * (piece + 1) + e] = total[u].low.c[e];
      part[int(threadIdx.x) * (piece + 1) + 4 + e] = total[u].high.c[e];
    }
    __syncthreads();
    real all_warps = 0;
    for (int w = 0; w < warps; ++w) all_warps += part[(w * warp + row) * (piece + 1) + c];
    if (i0 + row >= queries || j0 + u >= x.keys || c0 + c >= sum.n) continue;
    real& to_g = g[((int64_t(i0 + row) * x.keys + j0 + u) * x.heads + head) * sum.n + c0 + c];
    to_g = add ? to_g + all_warps : all_warps;
  }
}

// Without a table of pairs a row is a diagonal of g. Blocks: (rows, columns of g / 32). The warps share the queries.
__global__ void gather_diagonal(RowSum sum, const real* g, AttentionArgs x, int from, int to) {
  SHARED(real, part, warps * warp);
  const int lane = int(threadIdx.x) % warp, w = int(threadIdx.x) / warp, columns = x.heads * sum.n;
  const int p = int(blockIdx.x), column = int(blockIdx.y) * warp + lane;
  const int ahead = p + 1 - x.queries;  // j = i + ahead, see pair_row
  const int begin = larger(from, -ahead), end = column < columns ? smaller(to, x.keys - ahead) : 0;
  const real* at = g + (int64_t(begin + w - from) * x.keys + begin + w + ahead) * columns + column;
  real total = 0;
  for (int i = begin + w; i < end; i += warps, at += int64_t(warps) * (x.keys + 1) * columns) total += *at;
  part[int(threadIdx.x)] = total;
  __syncthreads();
  if (w > 0 || column >= columns) return;
  for (int other = 1; other < warps; ++other) total += part[other * warp + lane];
  add_to(sum.to, int64_t(p) * columns + column, sum.factor * total);
}

// A block has a few rows, and looks for them in the whole table of pairs; each warp has a share of the table, and sums
// of its own. Without g the table is of all sequences of ds, and g of a pair is one product.
// Blocks: (rows / at_once, columns / 64)
constexpr int at_once = 16 / words, of_lane = 2;
__global__ void gather_pairs(RowSum sum, const real* g, const real* ds, AttentionArgs x, const int* pairs,
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
    for (;;) {  // one that is ours, as row of the block x run + place in the run
      int found = -1;
      for (int u = 0; u < 4; ++u)
        if (place[u] >= 0 && place[u] < at_once) found = larger(found, place[u] * run + u * warp + lane);
      found = warp_max(found);
      if (found < 0) break;
      for (int u = 0; u < 4; ++u)
        if (place[u] * run + u * warp + lane == found) place[u] = -1;
      const int64_t e = e0 + found % run;
      for (int u = 0; u < of_lane; ++u) {
        const int at = column + u * warp;
        if (at >= columns) continue;
        real value = 0;
        if (g) {
          value = g[e * columns + at];
        } else {
          const int j = int(e % x.keys), i = int(e / x.keys % x.queries), b = int(e / x.keys / x.queries);
          const int head = at / sum.n;
          if (j >= seen_by(x, i)) continue;
          value = ds[((int64_t(b) * x.heads + head) * x.keys + j) * x.queries + i];
          if (sum.y) value *= sum.y[query_row(x, b, i, head) * sum.n + at % sum.n];
        }
        part[((w * at_once + found / run) * of_lane + u) * warp + lane] += value;
      }
    }
  }
  __syncthreads();
  for (int e = int(threadIdx.x); e < at_once * of_lane * warp; e += int(blockDim.x)) {
    const int row = first + e / (of_lane * warp), at = column - lane + e % (of_lane * warp);
    real total = 0;
    for (int v = 0; v < warps; ++v) total += part[v * at_once * of_lane * warp + e];
    if (row < x.rows && at < columns) add_to(sum.to, int64_t(row) * columns + at, sum.factor * total);
  }
}

inline void start_collect(real* g, bool add, const real* ds, const RowSum& sum, const AttentionArgs& x, int from,
                          int to) {
  const int tiles = parts(to - from, warp) * parts(x.keys, collect_keys);
  const dim3 blocks(unsigned(tiles), unsigned(x.heads * parts(sum.n, piece)));
  launch(collect, blocks, warps * warp, g, add, ds, sum, x, from, to, sum.n % 4 == 0 && aligned(sum.y));
}

// g null: pairs for each sequence, ds of all of them
inline void start_gather(const RowSum& sum, const real* g, const real* ds, const AttentionArgs& x, int from, int to) {
  const int columns = x.heads * sum.n;
  const int64_t queries = g ? to - from : int64_t(x.batch) * x.queries, first = g ? from : 0;
  if (!x.pairs)
    launch(gather_diagonal, dim3(unsigned(x.rows), unsigned(parts(columns, warp))), warps * warp, sum, g, x, from, to);
  else
    launch(gather_pairs, dim3(unsigned(parts(x.rows, at_once)), unsigned(parts(columns, of_lane * warp))), warps * warp,
           sum, g, ds, x, x.pairs + first * x.keys, queries * x.keys);
}

}  // namespace
}  // namespace poslab::cuda
