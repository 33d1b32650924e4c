// The logits of attention on the GPU (AttentionArgs in core/kernels.h): which keys a query sees, how the work is tiled,
// and tiles of keys in shared memory.
//
//   p_ij = scale (q_i . k_j + q_rel_i . r[pair])     u_ij = gain[pair] p_ij + bias[pair]     s_ij = temperature_i u_ij
//
// A block takes query rows of one head, of one sequence or of several, which then share the rows of r. A query row has
// a thread, or more lanes if it has more than 8 channels. Keys come by in tiles: k, v, and their rows of r, gain and
// bias.
//
// Kernels have a template parameter `plain`: one piece without bounds, no gain, no temperature, no key lengths, one key
// head for each query head, and values as wide as keys. Then these cost nothing.
#pragma once
#include "cuda/launch.h"
#include "cuda/vectors.cuh"

#ifdef POSLAB_EMULATE
#define UNROLL_2
#else
#define UNROLL_2 _Pragma("unroll 2")  // more would take registers, so that fewer blocks could run
#endif

namespace poslab::cuda {

constexpr int lane_channels = 8;
constexpr int rows_at_once = 4;                    // rows of the table that a thread looks up together
constexpr int keys_at_once = 4;                    // keys that a thread takes at once
constexpr int keys_at_once_backward = 2;
constexpr int max_channels = warp * lane_channels; // of a head; cuda/attention_general.cuh takes more
constexpr int words = int(sizeof(real)) / 4;       // half as many doubles fit
constexpr int max_threads = 128 / words;           // of a block
constexpr int target_blocks = 300;                 // number of blocks: two or three for each multiprocessor
constexpr int64_t max_weights = 32 << 20;          // weights in memory at once, unless one query has more

constexpr int smaller(int a, int b) { return a < b ? a : b; }
constexpr int larger(int a, int b) { return a > b ? a : b; }
constexpr int ceil_div(int n, int by) { return (n + by - 1) / by; }
constexpr int quotient(int n, int by) { return int(unsigned(n) / unsigned(by)); }  // half the instructions of n / by

// q . k + q_rel . r, or q . k alone: two chains of multiply-adds
template <bool relative>
__device__ inline real dots(const Eight& q, const Eight& k, const Eight& q_rel, const Eight& r) {
  if constexpr (!relative) return dot(q, k);
  return dot(q_rel.low, r.low, dot(q.low, k.low, 0)) + dot(q_rel.high, r.high, dot(q.high, k.high, 0));
}

inline bool is_plain(const AttentionArgs& x) {
  const AttentionPiece& p = x.piece[0];
  const bool all_pairs = p.from <= 1 - x.offset - x.queries && p.to >= (x.causal ? 1 : x.keys - x.offset);
  return x.pieces == 1 && all_pairs && p.first <= 0 && p.end >= x.keys && !x.gain && !x.temperature &&
         !x.key_lengths && x.kv_heads == x.heads && x.value_dim == x.head_dim;
}
inline bool in_fours(const AttentionArgs& x) {
  bool whole = x.head_dim % 4 == 0 && x.value_dim % 4 == 0 && x.rel_dim % 4 == 0 && aligned(x.v) && aligned(x.q_rel) &&
               aligned(x.r) && aligned(x.q_bias) && aligned(x.q_rel_bias);
  for (int p = 0; p < x.pieces; ++p) whole = whole && aligned(x.piece[p].q) && aligned(x.piece[p].k);
  return whole;
}

// -- where each row lies, counted in rows -----------------------------------------------------------------------------

// Channels c .. c + 7 of a query of piece p or of its q_rel, with its bias, times scale.
__device__ inline Eight scaled_query(const AttentionArgs& x, int p, int64_t query, int head, int c, bool whole) {
  Eight q = eight(x.piece[p].q + query * x.head_dim, c, x.head_dim, whole);
  if (p == 0 && x.q_bias) add_scaled(q, 1, eight(x.q_bias + head * x.head_dim, c, x.head_dim, whole));
  multiply(q, x.scale);
  return q;
}
__device__ inline Eight scaled_q_rel(const AttentionArgs& x, int64_t query, int head, int c, bool whole) {
  Eight q = eight(x.q_rel + query * x.rel_dim, c, x.rel_dim, whole);
  if (x.q_rel_bias) add_scaled(q, 1, eight(x.q_rel_bias + head * x.rel_dim, c, x.rel_dim, whole));
  multiply(q, x.scale);
  return q;
}

// The index of a row: of q, o and q_rel; of k and v; of r, gain and bias.
__device__ inline int64_t query_row(const AttentionArgs& x, int b, int i, int head) {
  return (int64_t(b) * x.queries + i) * x.heads + head;
}
__device__ inline int64_t key_row(const AttentionArgs& x, int b, int j, int kv_head) {
  return (int64_t(b) * x.keys + j) * x.kv_heads + kv_head;
}
// Without a table of pairs, pair (i, j) reads row j - i plus this number.
__host__ __device__ inline int row_of_distance_0(const AttentionArgs& x) {
  const int slots = x.offset + x.queries;
  return (slots > x.keys ? slots : x.keys) - 1 - x.offset;
}
__device__ inline int64_t pair_row(const AttentionArgs& x, int b, int i, int j) {
  if (!x.pairs) return j - i + row_of_distance_0(x);
  return x.pairs[(int64_t(x.pairs_batch == 1 ? 0 : b) * x.queries + i) * x.keys + j];
}
// The index of a row in the gradient's scratch arrays, (batch, heads, queries) or (batch, heads, keys, to - from).
__device__ inline int64_t weight_row(const AttentionArgs& x, int b, int head, int i) {
  return (int64_t(b) * x.heads + head) * x.queries + i;
}
__device__ inline real temperature_of(const AttentionArgs& x, int b, int head, int i) {
  if (!x.temperature) return 1;
  const int64_t row = int64_t(x.temperature_batch == 1 ? 0 : b) * x.queries + i;
  return x.temperature[row * x.temperature_heads + (x.temperature_heads == 1 ? 0 : head)];
}

// -- which keys a query sees ------------------------------------------------------------------------------------------

struct KeyRange { int first, end; };    // keys first .. end - 1, none if first >= end

// The keys that query i sees in piece p.
template <bool plain>
__device__ inline KeyRange keys_of(const AttentionArgs& x, int p, int b, int i) {
  const int slot = x.offset + i, end = x.causal ? smaller(slot + 1, x.keys) : x.keys;
  if constexpr (plain) {
    return {0, end};
  } else {
    const AttentionPiece& piece = x.piece[p];
    const int length = x.key_lengths ? smaller(end, x.key_lengths[b]) : end;
    return {larger(larger(0, piece.first), slot + piece.from), smaller(smaller(piece.end, slot + piece.to), length)};
  }
}
// The piece that the pair is in, -1 if the query does not see the key.
template <bool plain>
__device__ inline int piece_of(const AttentionArgs& x, int b, int i, int j) {
  for (int p = 0; p < (plain ? 1 : x.pieces); ++p) {
    const KeyRange keys = keys_of<plain>(x, p, b, i);
    if (j >= keys.first && j < keys.end) return p;
  }
  return -1;
}

// -- tiles ------------------------------------------------------------------------------------------------------------

// How a call is cut into blocks and tiles. Kernels also have a template parameter L: 1 lane, or 0 for any number.
struct Tiling {
  int lanes = 1;                             // of a query row
  int sequences = 1, queries = 1, keys = 0;  // a block's sequences and queries, a tile's keys
  int tiles = 1;                             // of queries
  int step = 1, stride = 0;                  // in the table: pair (i, j) is in row base(i) + j step, of `stride` Fours
  bool whole = false;                        // see four()
  FIELDS(Tiling, lanes, sequences, queries, keys, tiles, step, stride, whole)

  int fours() const { return 2 * lanes; }    // Fours of a row of k, v or r
  int rows() const { return sequences * queries; }
  int threads() const { return ceil_div(rows() * lanes, warp) * warp; }
};

// Capacities of a kernel in shared memory, which its code fixes.
struct Room {
  int lanes = 0;                             // lanes of all query rows
  int fours = 0;                             // of the tiles
  int weights = 0;                           // reals of a tile's weights, if they stay there to be read again
  int diagonals = 0;                         // sums of those weights' diagonals, in all sequences of the block; 0: none
  constexpr int threads() const { return (lanes + warp - 1) / warp * warp; }
};

// The most channels that a row of q, k, v, or r has.
inline int channels_of(const AttentionArgs& x) {
  return larger(larger(x.head_dim, x.value_dim), x.q_rel ? x.rel_dim : 0);
}

inline Tiling tiling_for(const AttentionArgs& x, const Room& room) {
  Tiling c;
  while (c.lanes * lane_channels < channels_of(x)) c.lanes *= 2;
  const bool relative = x.q_rel, factors = x.bias || x.gain, looked_up = (relative || factors) && x.pairs;
  const bool shared = looked_up && x.pairs_batch == 1;
  const int at_once = room.weights ? keys_at_once_backward : keys_at_once;
  const int wanted = larger(1, smaller(int(int64_t(x.batch) * x.heads / target_blocks), x.batch));
  c.stride = relative ? c.fours() + 1 : factors ? 1 : 0;  // an odd number, so that neighbours lie in different banks
  for (int rows = room.lanes / c.lanes; rows >= 1; rows /= 2) {
    // A looked-up row of r serves several sequences. Otherwise a block takes rows of one sequence, if that has enough.
    const int tallest = smaller(x.queries, shared ? larger(1, rows / smaller(wanted, 4)) : rows);
    c.tiles = ceil_div(x.queries, tallest);
    c.queries = ceil_div(x.queries, c.tiles);
    c.sequences = larger(1, smaller(wanted, rows / c.queries));
    c.step = shared ? c.queries : looked_up ? c.rows() : 1;
    const int of_key = 2 * c.sequences * c.fours() + c.stride * c.step;
    const int of_tile = looked_up ? 0 : c.stride * (c.queries - 1);
    c.keys = larger(0, room.fours - of_tile) / of_key;
    if (room.weights) c.keys = smaller(c.keys, room.weights / c.rows() - 1);
    if (room.diagonals) c.keys = smaller(c.keys, room.diagonals / c.sequences - c.queries + 1);
    c.keys -= c.keys % at_once;
    if (c.keys > 0) break;  // else tries fewer query rows, until some keys fit next to them
  }
  c.keys = ceil_div(ceil_div(x.keys, ceil_div(x.keys, c.keys)), at_once) * at_once;  // tiles of about equal size
  return c;
}

// The query row of a thread. A thread that has none (not alive) works on the block's first and writes nothing.
struct QueryRow {
  bool alive;
  int lane, at, n, row;  // lane in the row; indices in the block: of the row, its sequence, its query
  int b, i;
};
template <int L>
__device__ inline QueryRow own_row(const AttentionArgs& x, const Tiling& cut, int b0, int i0, int end) {
  const int lanes = L ? L : cut.lanes, at = quotient(int(threadIdx.x), lanes), n = quotient(at, cut.queries);
  const int lane = int(threadIdx.x) - at * lanes, row = at - n * cut.queries;
  if (n < cut.sequences && b0 + n < x.batch && i0 + row < end) return {true, lane, at, n, row, b0 + n, i0 + row};
  return {false, lane, 0, 0, 0, b0, i0};
}

// All keys that queries i0 .. end - 1 of the block's sequences see in piece p.
template <bool plain>
__device__ inline KeyRange keys_of_block(const AttentionArgs& x, const Tiling& cut, int p, int b0, int i0, int end) {
  KeyRange all{keys_of<plain>(x, p, b0, i0).first, keys_of<plain>(x, p, b0, end - 1).end};
  if constexpr (!plain)
    for (int n = 1; x.key_lengths && n < cut.sequences && b0 + n < x.batch; ++n)
      all.end = larger(all.end, keys_of<plain>(x, p, b0 + n, end - 1).end);
  return all;
}

// Where a thread reads the tile that is in the pool: the first key's Fours, and how far it is to the next key's.
struct Tile {
  int k, v, r, factors, key_step, pair_step;   // factors: a Four of bias and gain
};
template <int L, bool relative>
__device__ inline Tile tile_of(const AttentionArgs& x, const Tiling& cut, const QueryRow& me) {
  const int fours = 2 * (L ? L : cut.lanes), values = cut.sequences * cut.keys * fours;
  const int base = !x.pairs ? cut.queries - 1 - me.row : x.pairs_batch == 1 ? me.row : me.at;
  const int k = me.n * cut.keys * fours + 2 * me.lane, table = 2 * values + base * cut.stride;
  return {k, k + values, table + 2 * me.lane, table + (relative ? fours : 0), fours, cut.step * cut.stride};
}

// The row of r, gain and bias that row c of the tile's table holds, -1 if none.
__device__ inline int64_t table_row(const AttentionArgs& x, const Tiling& cut, int b0, int i0, int j0, int c) {
  if (!x.pairs) {
    const int row = j0 - i0 + c + row_of_distance_0(x) + 1 - cut.queries;
    return row >= 0 && row < x.rows ? row : -1;
  }
  const int key = quotient(c, cut.step), at = c - key * cut.step, n = quotient(at, cut.queries);
  const int b = b0 + n, i = i0 + at - n * cut.queries, j = j0 + key;
  return b < x.batch && i < x.queries && j < x.keys ? pair_row(x, b, i, j) : -1;
}

// Fills the pool: rows of piece p's k, rows of v, table; for cut.keys keys from j0 on of the block's sequences. All
// threads of the block must call it, and arrived() before the barrier after it.
template <int L, bool relative, bool plain, class Pool>
__device__ inline void fill(Pool& pool, const AttentionArgs& x, const Tiling& cut, int p, int b0, int head, int i0,
                            int j0) {
  const int fours = 2 * (L ? L : cut.lanes), keys = cut.sequences * cut.keys;
  const int D = x.head_dim, Dv = plain ? D : x.value_dim, kv_head = plain ? head : head / (x.heads / x.kv_heads);
  const real* const all_k = x.piece[plain ? 0 : p].k;
  // channels 4f .. 4f + 3 of the n of a row, zeros if there is no row
  const auto put_in = [&](int at, const real* row, int f, int n, bool there) {
    if (there && cut.whole && 4 * f < n) return bring(pool, at, row + 4 * f);
    pool[at] = there ? four(row, 4 * f, n, cut.whole) : Four{};
  };
  for (int e = int(threadIdx.x); e < keys * fours; e += int(blockDim.x)) {
    const int key = e / fours, n = quotient(key, cut.keys), b = b0 + n, j = j0 + key - n * cut.keys, f = e % fours;
    const bool there = b < x.batch && j < x.keys;
    const int64_t at = there ? key_row(x, b, j, kv_head) : 0;
    put_in(e, all_k + at * D, f, D, there), put_in(keys * fours + e, x.v + at * Dv, f, Dv, there);
  }
  if (!cut.stride) return;
  const int rows = x.pairs ? cut.step * cut.keys : cut.queries + cut.keys - 1;
  for (int c0 = int(threadIdx.x); c0 < rows; c0 += rows_at_once * int(blockDim.x)) {
    int row[rows_at_once];                     // all are looked up before any is used
    UNROLL for (int u = 0; u < rows_at_once; ++u) {
      const int c = c0 + u * int(blockDim.x);
      row[u] = c < rows ? int(table_row(x, cut, b0, i0, j0, c)) : -1;
    }
    UNROLL for (int u = 0; u < rows_at_once; ++u) {
      const int c = c0 + u * int(blockDim.x), at = 2 * keys * fours + c * cut.stride;
      if (c >= rows) break;
      const int64_t of_head = int64_t(larger(0, row[u])) * x.heads + head;
      if constexpr (relative)
        for (int f = 0; f < fours; ++f) put_in(at + f, x.r + of_head * x.rel_dim, f, x.rel_dim, row[u] >= 0);
      if (!x.bias && (plain || !x.gain)) continue;
      Four factors{};
      if (x.bias && row[u] >= 0) factors.c[0] = x.bias[of_head];
      if constexpr (!plain)
        if (x.gain && row[u] >= 0) factors.c[1] = x.gain[of_head];
      pool[at + (relative ? fours : 0)] = factors;
    }
  }
}

// The sums of a query row over the keys so far, which are scaled down when a larger logit comes (cuda/attention.cu).
struct RunningSoftmax {
  real max = -INFINITY, z = 0;
  Eight sum{};
  // Adds more keys, by their logits, -infinity for a key that is not seen, and value(u), the value of the u-th.
  template <class Value>
  __device__ void add(const real (&s)[keys_at_once], const Value& value) {
    real top = max;
    for (int u = 0; u < keys_at_once; ++u) top = s[u] > top ? s[u] : top;
    const real shift = top == -INFINITY ? real(0) : top, fade = exp(max - shift);
    max = top, z *= fade, multiply(sum, fade);
    for (int u = 0; u < keys_at_once; ++u) {
      const real e = exp(s[u] - shift);
      z += e, add_scaled(sum, e, value(u));
    }
  }
};

// Sum over the lanes of a query row.
template <int L>
__device__ inline real over_lanes(real y, int lanes) {
  if constexpr (L != 1) y = warp_sum(y, lanes);
  return y;
}

// Sequences b .. b + n - 1 of a call.
inline AttentionArgs sequences(AttentionArgs x, int b, int n) {
  const int64_t q = int64_t(b) * x.queries * x.heads, k = int64_t(b) * x.keys * x.kv_heads;
  x.batch = n;
  for (int p = 0; p < x.pieces; ++p) x.piece[p].q += q * x.head_dim, x.piece[p].k += k * x.head_dim;
  if (x.v) x.v += k * x.value_dim;
  if (x.q_rel) x.q_rel += q * x.rel_dim;
  if (x.temperature && x.temperature_batch > 1) x.temperature += int64_t(b) * x.queries * x.temperature_heads;
  if (x.pairs && x.pairs_batch > 1) x.pairs += int64_t(b) * x.queries * x.keys;
  if (x.key_lengths) x.key_lengths += b;
  return x;
}

}  // namespace poslab::cuda
