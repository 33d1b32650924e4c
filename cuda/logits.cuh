// The logits of attention on the GPU: how the work is cut, and tiles of keys in shared memory.
//
//   s_ij = scale (q_i . k_j + q_rel_i . r[pair(i,j)]) + bias[pair(i,j)]
//
// A block takes query rows of one head, of one sequence or of several, which then share the rows of r. A query row has
// a thread, or more lanes if it has more than 8 channels. Keys come by in tiles: k, v, and their rows of r and bias.
#pragma once
#include "cuda/launch.h"

namespace poslab::cuda {

constexpr int piece = 8;                       // channels of a lane
constexpr int together = 4;                    // keys that a thread takes at once
constexpr int widest = warp * piece;           // heads of more channels: cuda/wide_heads.cuh
constexpr int words = int(sizeof(real)) / 4;   // of doubles half as many fit
constexpr int most_threads = 128 / words;      // of a block
constexpr int wanted_blocks = 300;             // two or three for each processor of the GPU
constexpr int64_t weights_at_once = 32 << 20;  // or of a head at least, where weights stand in memory

constexpr int smaller(int a, int b) { return a < b ? a : b; }
constexpr int larger(int a, int b) { return a > b ? a : b; }
constexpr int parts(int n, int of) { return (n + of - 1) / of; }
constexpr int over(int n, int by) { return int(unsigned(n) / unsigned(by)); }  // half the instructions of n / by

// What shared memory is read and written in, so that one instruction moves four channels.
struct alignas(16) Four {
  real c[4];
};
struct Eight {
  Four low, high;
};

// s + a . b
__device__ inline real dot(const Four& a, const Four& b, real s) {
  for (int e = 0; e < 4; ++e) s += a.c[e] * b.c[e];
  return s;
}
__device__ inline real dot(const Eight& a, const Eight& b) { return dot(a.low, b.low, 0) + dot(a.high, b.high, 0); }
// q . k + q_rel . r, or q . k alone: two chains of multiply-adds
template <bool relative>
__device__ inline real dots(const Eight& q, const Eight& k, const Eight& q_rel, const Eight& r) {
  if constexpr (!relative) return dot(q, k);
  return dot(q_rel.low, r.low, dot(q.low, k.low, 0)) + dot(q_rel.high, r.high, dot(q.high, k.high, 0));
}
__device__ inline void add_scaled(Four& y, real w, const Four& x) {
  for (int e = 0; e < 4; ++e) y.c[e] += w * x.c[e];
}
__device__ inline void add_scaled(Eight& y, real w, const Eight& x) {
  add_scaled(y.low, w, x.low), add_scaled(y.high, w, x.high);
}
__device__ inline void multiply(Eight& y, real w) {
  for (int e = 0; e < 4; ++e) y.low.c[e] *= w, y.high.c[e] *= w;
}

// Channels c .. c + 3 of the n of a row, zeros beyond. whole: n is a multiple of 4, and rows begin where Fours may.
__device__ inline Four four(const real* row, int c, int n, bool whole) {
  if (whole) return c < n ? *reinterpret_cast<const Four*>(row + c) : Four{};
  Four y;
  for (int e = 0; e < 4; ++e) y.c[e] = c + e < n ? row[c + e] : real(0);
  return y;
}
__device__ inline Eight eight(const real* row, int c, int n, bool whole) {
  return {four(row, c, n, whole), four(row, c + 4, n, whole)};
}
template <class Pool>
__device__ inline Eight eight(Pool& pool, int at) {
  const Four low = pool[at], high = pool[at + 1];
  return {low, high};
}
// row[c ..] = or += y
__device__ inline void put(real* row, bool empty, int c, int n, bool whole, Four y) {
  if (!empty) add_scaled(y, 1, four(row, c, n, whole));
  if (whole) {
    if (c < n) *reinterpret_cast<Four*>(row + c) = y;
  } else {
    for (int e = 0; e < 4; ++e)
      if (c + e < n) row[c + e] = y.c[e];
  }
}
__device__ inline void put(real* row, bool empty, int c, int n, bool whole, const Eight& y) {
  put(row, empty, c, n, whole, y.low), put(row, empty, c + 4, n, whole, y.high);
}
inline bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % alignof(Four) == 0; }
inline bool in_fours(const AttentionArgs& x) {
  return x.head_dim % 4 == 0 && x.rel_dim % 4 == 0 && aligned(x.piece[0].q) && aligned(x.piece[0].k) && aligned(x.v) &&
         aligned(x.q_rel) && aligned(x.r);
}

// Where rows are, in rows: of q, o, q_rel; of k and v; of r and bias. i counts the queries.
__device__ inline int64_t query_row(const AttentionArgs& x, int b, int i, int head) {
  return (int64_t(b) * x.queries + i) * x.heads + head;
}
__device__ inline int64_t key_row(const AttentionArgs& x, int b, int j, int head) {
  return (int64_t(b) * x.keys + j) * x.heads + head;
}
__device__ inline int64_t pair_row(const AttentionArgs& x, int b, int i, int j) {
  if (!x.pairs) return j - i + x.queries - 1;  // the slot of i is i + keys - queries
  return x.pairs[(int64_t(x.pairs_batch == 1 ? 0 : b) * x.queries + i) * x.keys + j];
}
// How many keys query i may look at.
__device__ inline int seen_by(const AttentionArgs& x, int i) { return x.causal ? i + x.keys - x.queries + 1 : x.keys; }

// How a call is cut into blocks and tiles. Kernels take a template parameter L beside it: 1 lane, or 0 for any number.
struct Cut {
  int lanes = 1;                             // of a query row
  int sequences = 1, queries = 1, keys = 0;  // of a block; of a tile
  int tiles = 1;                             // of queries
  int step = 1, stride = 0;                  // of the table: pair (i, j) is in row base(i) + j step, of `stride` Fours
  bool whole = false;                        // see four()
  FIELDS(Cut, lanes, sequences, queries, keys, tiles, step, stride, whole)

  int fours() const { return 2 * lanes; }  // of a row of k, v or r
  int rows() const { return sequences * queries; }
  int threads() const { return parts(rows() * lanes, warp) * warp; }
};

// Fours of shared memory for the tiles, by kind of kernel; reals for weights that wait for the backward pass.
constexpr int pool_fours(bool narrow, bool relative) { return (!narrow ? 1792 : relative ? 1056 : 512) / words; }
constexpr int waiting_room(bool narrow) { return (narrow ? 2560 : 1280) / words; }

inline bool too_wide(const AttentionArgs& x) { return larger(x.head_dim, x.rel_dim) > widest; }

// backward: a block keeps the weights of a tile.
inline Cut cut_for(const AttentionArgs& x, bool backward) {
  Cut c;
  while (c.lanes * piece < larger(x.head_dim, x.q_rel ? x.rel_dim : 0)) c.lanes *= 2;
  const bool relative = x.q_rel, looked_up = (relative || x.bias) && x.pairs;
  const bool shared = looked_up && x.pairs_batch == 1;
  const int wanted = larger(1, smaller(int(int64_t(x.batch) * x.heads / wanted_blocks), x.batch));
  c.stride = relative ? c.fours() + 1 : x.bias ? 1 : 0;  // an odd number: neighbours lie in different banks
  for (int most = most_threads / c.lanes; most >= 1; most /= 2) {
    // A row of r that is looked up serves several sequences; otherwise a block has rows of one, if it has so many.
    const int tallest = smaller(x.queries, shared ? larger(1, most / smaller(wanted, 4)) : most);
    c.tiles = parts(x.queries, tallest);
    c.queries = parts(x.queries, c.tiles);
    c.sequences = larger(1, smaller(wanted, most / c.queries));
    c.step = shared ? c.queries : looked_up ? c.rows() : 1;
    const int of_key = 2 * c.sequences * c.fours() + c.stride * c.step;
    const int of_tile = looked_up ? 0 : c.stride * (c.queries - 1);
    c.keys = larger(0, pool_fours(c.lanes == 1, relative) - of_tile) / of_key;
    if (backward) c.keys = smaller(c.keys, waiting_room(c.lanes == 1) / c.rows() - 1);
    c.keys -= c.keys % together;
    if (c.keys > 0) break;  // fewer query rows, until some keys fit beside them
  }
  c.keys = parts(parts(x.keys, parts(x.keys, c.keys)), together) * together;  // tiles of like size
  return c;
}

// The query row of a thread. A thread that has none (not alive) works on the block's first and writes nothing.
struct Mine {
  bool alive;
  int lane, at, n, row;  // of the query row; among the block's rows; of the sequence; among its queries
  int b, i;
};
template <int L>
__device__ inline Mine mine(const AttentionArgs& x, const Cut& cut, int b0, int i0, int end) {
  const int lanes = L ? L : cut.lanes, at = over(int(threadIdx.x), lanes), n = over(at, cut.queries);
  const int lane = int(threadIdx.x) - at * lanes, row = at - n * cut.queries;
  if (n < cut.sequences && b0 + n < x.batch && i0 + row < end) return {true, lane, at, n, row, b0 + n, i0 + row};
  return {false, lane, 0, 0, 0, b0, i0};
}

// Where a thread reads the tile that is in the pool: the first key's Fours, and how far it is to the next key's.
struct Tile {
  int k, v, r, bias, key_step, pair_step;
};
template <int L, bool relative>
__device__ inline Tile tile_of(const AttentionArgs& x, const Cut& cut, const Mine& me) {
  const int fours = 2 * (L ? L : cut.lanes), values = cut.sequences * cut.keys * fours;
  const int base = !x.pairs ? cut.queries - 1 - me.row : x.pairs_batch == 1 ? me.row : me.at;
  const int k = me.n * cut.keys * fours + 2 * me.lane, table = 2 * values + base * cut.stride;
  return {k, k + values, table + 2 * me.lane, table + (relative ? fours : 0), fours, cut.step * cut.stride};
}

// The row of r and bias that row c of the table stands for, -1 if none.
__device__ inline int64_t table_row(const AttentionArgs& x, const Cut& cut, int b0, int i0, int j0, int c) {
  if (!x.pairs) {
    const int row = j0 - i0 + c + x.queries - cut.queries;
    return row >= 0 && row < x.rows ? row : -1;
  }
  const int key = over(c, cut.step), at = c - key * cut.step, n = over(at, cut.queries);
  const int b = b0 + n, i = i0 + at - n * cut.queries, j = j0 + key;
  return b < x.batch && i < x.queries && j < x.keys ? pair_row(x, b, i, j) : -1;
}

// pool: rows of k, rows of v, table; keys j0 .. j0 + cut.keys of the block's sequences. All threads take part.
template <int L, bool relative, class Pool>
__device__ inline void fill(Pool& pool, const AttentionArgs& x, const Cut& cut, int b0, int head, int i0, int j0) {
  const int fours = 2 * (L ? L : cut.lanes), keys = cut.sequences * cut.keys;
  for (int e = int(threadIdx.x); e < keys * fours; e += int(blockDim.x)) {
    const int key = e / fours, n = over(key, cut.keys), b = b0 + n, j = j0 + key - n * cut.keys, c = e % fours * 4;
    Four k{}, v{};
    if (b < x.batch && j < x.keys) {
      const int64_t at = key_row(x, b, j, head) * x.head_dim;
      k = four(x.piece[0].k + at, c, x.head_dim, cut.whole), v = four(x.v + at, c, x.head_dim, cut.whole);
    }
    pool[e] = k, pool[keys * fours + e] = v;
  }
  if (!cut.stride) return;
  const int rows = x.pairs ? cut.step * cut.keys : cut.queries + cut.keys - 1;
  for (int c = int(threadIdx.x); c < rows; c += int(blockDim.x)) {
    const int64_t row = table_row(x, cut, b0, i0, j0, c);
    const int at = 2 * keys * fours + c * cut.stride;
    if constexpr (relative)
      for (int f = 0; f < fours; ++f)
        pool[at + f] = row < 0 ? Four{} : four(x.r + (row * x.heads + head) * x.rel_dim, f * 4, x.rel_dim, cut.whole);
    if (x.bias) pool[at + (relative ? fours : 0)] = Four{{row < 0 ? real(0) : x.bias[row * x.heads + head]}};
  }
}

// Sum over the lanes of a query row.
template <int L>
__device__ inline real over_lanes(real y, int lanes) {
  if constexpr (L != 1)
    for (int away = lanes / 2; away > 0; away /= 2) y += __shfl_xor_sync(0xFFFFFFFFu, y, away);
  return y;
}

// Sequences b .. b + n of a call.
inline AttentionArgs sequences(AttentionArgs x, int b, int n) {
  const int64_t q = int64_t(b) * x.queries * x.heads, k = int64_t(b) * x.keys * x.heads;
  x.batch = n;
  x.piece[0].q += q * x.head_dim, x.piece[0].k += k * x.head_dim;
  if (x.v) x.v += k * x.head_dim;
  if (x.q_rel) x.q_rel += q * x.rel_dim;
  if (x.pairs && x.pairs_batch > 1) x.pairs += int64_t(b) * x.queries * x.keys;
  return x;
}

}  // namespace poslab::cuda
