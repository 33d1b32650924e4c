// The logits of attention for a tile (a block of query rows by a range of keys), and how a call is cut into tiles.
// docs/attention.md leads here from the formula; core/cpu/attention/naive.h computes the same without tiles.
//
//   u_ij = gain[pair] scale (q_i . k_j + q_rel_i . r[pair]) + bias[pair]        s_ij = temperature_i u_ij
//
// Keys are along the vector lanes. Sequences that share a table of pairs form a group: query row i of all of them reads
// the same rows of r, so one small product serves the group.
#pragma once
#include "core/cpu/gemm.h"
#include "core/cpu/no_subnormals.h"
#include "core/cpu/rows.h"
#include "core/cpu/transpose.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/platform/parallel.h"
#include "core/stop.h"

namespace poslab::POSLAB_ISA {

constexpr int smaller(int a, int b) { return a < b ? a : b; }
constexpr int larger(int a, int b) { return a > b ? a : b; }
inline int rounded_up(int n, int to) { return (n + to - 1) / to * to; }
inline int whole_vectors(int n) { return rounded_up(n, lanes); }  // a row length rounded up to whole vectors

// to_j = y(j), j < n, for a head's few channels: in vectors of 8, which later loads take from the store buffer.
template <class Y>
inline void write_channels(real* to, int n, const Y& y) {
  constexpr int W = smaller(lanes, 8);
  int j = 0;
  for (; j + W <= n; j += W) store<W>(to + j, y.template operator()<W>(j));
  for (; j < n; ++j) store<1>(to + j, y.template operator()<1>(j));
}

// Attention's buffers in scratch memory, on each thread: scratch(buffer, n).
enum Buffer {
  logits_buffer, logit_grads_buffer, keys_buffer, values_buffer, piece_buffer, row_buffer, r_buffer, r_rows_buffer,
  gain_buffer, bias_buffer, r_grads_buffer, gain_grads_buffer, bias_grads_buffer, softmax_buffer, partial_sums_buffer,
  temperature_grads_buffer
};

// How a call is divided, which depends only on the shapes. A unit of work is one head and a part of the batch; in it
// there are blocks of query rows, for each block tiles of the keys that it sees, and for each tile groups of sequences.
struct Tiling {
  static constexpr int max_rows = 64, max_keys = 1024;  // of a tile
  int parts = 16, part_size;  // parts of the batch, each with partial sums of dr, dgain and dbias; part_size: sequences
  int group = 8, block_rows;  // number of sequences in a group, of query rows in a block

  explicit Tiling(const AttentionArgs& x) {
    while (parts > 2 && int64_t(parts) * x.rows > 8 * 1024) parts /= 2;
    parts = smaller(parts, x.batch);
    if ((x.q_rel || x.pairs) && x.pairs_batch == 1)  // tables are expensive, so a whole group shares each of them
      while (parts > 2 && x.batch < parts * group) parts /= 2;
    part_size = (x.batch + parts - 1) / parts;
    parts = (x.batch + part_size - 1) / part_size;
    group = x.q_rel && x.pairs_batch == 1 ? smaller(part_size, group) : 1;
    block_rows = smaller(x.queries, max_rows);
    const int64_t keys = smaller(x.keys, max_keys);
    while (block_rows * keys * group > 64 * 1024) block_rows /= 2;  // a group's logits stay in the cache
  }
};

// One head of one call: the indices of its rows of q, o and q_rel, of k and v, and of r, gain and bias.
struct Head {  // NOLINT(*-member-init): the reference asks for a value, so every field gets one
  const AttentionArgs& x;
  const int head;
  const int kv_head = head / (x.heads / x.kv_heads);

  int64_t query_row(int b, int i) const { return (int64_t(b) * x.queries + i) * x.heads + head; }
  int64_t key_row(int b, int j) const { return (int64_t(b) * x.keys + j) * x.kv_heads + kv_head; }
  int64_t pair_row(int64_t pair) const { return pair * x.heads + head; }
};

// Keys first .. end - 1.
struct KeyRange {
  int first, end;
  bool empty() const { return end <= first; }
};
inline KeyRange overlap(KeyRange a, KeyRange b) { return {larger(a.first, b.first), smaller(a.end, b.end)}; }

// v for the columns j .. j + lanes that lie in a range, `other` for the rest. So rows are stored in whole vectors: a
// vector stored in parts cannot be loaded until all parts have reached the cache.
inline Vec inside(KeyRange range, int j, Vec v, Vec other) {
  if (range.first <= j && j + lanes <= range.end) return v;
  const LaneMask column = lane_numbers() + j;
  return ((column >= range.first) & (column < range.end)) ? v : other;
}

// The keys that query i sees in one piece. Ignores key_lengths.
inline KeyRange seen_keys(const AttentionArgs& x, const AttentionPiece& piece, int i) {
  const int slot = x.offset + i;
  const KeyRange diagonals = {slot + piece.from, x.causal ? smaller(slot + piece.to, slot + 1) : slot + piece.to};
  return overlap(overlap({0, x.keys}, {piece.first, piece.end}), diagonals);
}
// The keys that at least one of queries i0 .. i0 + m - 1 sees, and all keys between them.
inline KeyRange seen_keys(const AttentionArgs& x, const AttentionPiece& piece, int i0, int m) {
  return {seen_keys(x, piece, i0).first, seen_keys(x, piece, i0 + m - 1).end};
}

// Query rows i0 .. i0 + m - 1 of one head by keys j0 .. j0 + n - 1, with tables of r, gain and bias by pair or by
// distance. With `pairs`, each query row has a table of its own for its keys. Without it, all rows read one table of
// distances: query row i finds key j0 + c in column table_column(i) + c, Transformer-XL's "relative shift".
struct Tile {
  const Head& h;
  const int i0, m, j0, n;
  const bool first, last;  // whether it is the first, or the last, tile of this block of rows
  const AttentionArgs& x = h.x;
  const int width = whole_vectors(larger(n, 1));  // reals from one row of logits to the next
  const int filled = rounded_up(n, lanes / 2);    // columns that products fill; later ones are undefined
  const int tables = x.pairs ? m : 1;
  const int columns = x.pairs ? n : n - 1 + m;
  const int table_width = whole_vectors(larger(x.pairs ? n : m - 1 + width, 1));
  // The sequences of a group are a little more than a tile apart, so that they do not share lines of the cache.
  const ptrdiff_t sequence = ptrdiff_t(m) * width + lanes;
  const real *r = nullptr, *r_rows = nullptr, *gain = nullptr, *bias = nullptr;  // see prepare
  int pieces = 0, piece[max_pieces] = {};  // the numbers of the pieces that hold a pair of this tile
  bool leading = true;  // every row sees the keys from j0 up to an end of its own, all in one piece, so that the mask
                        // of a row is a number of columns; and s = scale q.k + bias

  Tile(const Head& head, int i, int rows, KeyRange keys, bool is_first, bool is_last)
      : h(head), i0(i), m(rows), j0(keys.first), n(keys.end - keys.first), first(is_first), last(is_last) {
    for (int p = 0; p < x.pieces; ++p)
      if (!columns_of(p).empty()) piece[pieces++] = p;
    leading = pieces <= 1 && !x.gain && !x.temperature &&
              (!pieces || seen_keys(x, x.piece[piece[0]], i0 + m - 1).first <= j0);
    if (leading && pieces)
      row_limit_ = smaller(x.keys, x.piece[piece[0]].end) - j0,
      first_row_end_ = x.offset + i0 - j0 + smaller(x.piece[piece[0]].to, x.causal ? 1 : far);
  }

  KeyRange columns_of(int p) const { return clip(seen_keys(x, x.piece[p], i0, m)); }
  KeyRange columns_of(int p, int i) const { return clip(seen_keys(x, x.piece[p], i0 + i)); }
  // The number of columns before the padding of sequence b.
  int keys_of(int b) const { return x.key_lengths ? larger(0, smaller(x.key_lengths[b] - j0, n)) : n; }
  // The columns that query row i of a `leading` tile sees: one more than the row above, up to the keys' limit.
  struct Seen {
    int first_row, limit;
    int operator()(int i) const { return larger(0, smaller(first_row + i, limit)); }
  };
  Seen seen(int b) const { return {first_row_end_, smaller(row_limit_, keys_of(b))}; }

  int table_column(int i) const { return m - 1 - i; }
  // Where query row i begins in the tables: with `pairs` at table i, each `size` reals long; else at its column of the
  // only table, whose columns are `step` reals apart.
  int64_t start(int i, int64_t size, int step = 1) const {
    return x.pairs ? i * size : int64_t(table_column(i)) * step;
  }
  // The row of r, gain and bias for column c of table t.   b: a sequence of the tables' group
  int64_t pair(int b, int t, int c) const {
    if (!x.pairs) return j0 + c - (x.offset + i0 + m - 1) + larger(x.offset + x.queries, x.keys) - 1;
    return x.pairs[((x.pairs_batch == 1 ? 0 : int64_t(b)) * x.queries + i0 + t) * x.keys + j0 + c];
  }

  // Fills the tables, for sequence b's group.   r: scale r^T, tables of (R, columns)   gain, bias: of (columns)
  void prepare(int b);
  void prepare_rows(int b);  // fills r_rows with r, tables of (columns, R)

  // s = scale (q_i . k_j + q_rel_i . r[pair]) for sequences from .. to - 1, each (m, width), `sequence` reals apart.
  void products(real* s, int from, int to) const;
  // Row i of products() -> s_ij in `to`, -infinity where masked; `to` may be s. For tiles that are not `leading`.
  void finish_row(const real* s, real* to, int b, int i) const;
  const real* bias_row(int i) const { return bias ? bias + start(i, table_width) : nullptr; }
  const real* gain_row(int i) const { return gain ? gain + start(i, table_width) : nullptr; }
  int64_t temperature_at(int b, int i) const {
    const int64_t row = (x.temperature_batch == 1 ? 0 : int64_t(b)) * x.queries + i0 + i;
    return x.temperature_heads == 1 ? row : row * x.heads + h.head;
  }

 private:
  int row_limit_ = 0, first_row_end_ = 0;
  KeyRange clip(KeyRange keys) const { return overlap({keys.first - j0, keys.end - j0}, {0, n}); }
  void content(real* s, int b) const;
  const real* table(int buffer, int b, const real* of) const;
};

inline const real* Tile::table(int buffer, int b, const real* of) const {
  real *to = scratch(buffer, int64_t(tables) * table_width), *at = to;
  for (int t = 0; t < tables; ++t, at += table_width) {
    for (int c = 0; c < columns; ++c) at[c] = of[h.pair_row(pair(b, t, c))];
    for (int c = columns; c < table_width; ++c) at[c] = 0;
  }
  return to;
}

inline void Tile::prepare(int b) {
  if (x.q_rel) {
    const int R = x.rel_dim;
    real* to = scratch(r_buffer, int64_t(tables) * R * table_width);
    r = to;
    for (int t = 0; t < tables; ++t, to += int64_t(R) * table_width) {
      transpose_rows(
          columns, R, [&](int c) { return x.r + h.pair_row(pair(b, t, c)) * R; }, x.scale, to, table_width);
      for (int e = 0; e < R; ++e)
        for (int c = columns; c < table_width; ++c) to[e * table_width + c] = 0;
    }
  }
  if (x.gain) gain = table(gain_buffer, b, x.gain);
  if (x.bias) bias = table(bias_buffer, b, x.bias);
}

inline void Tile::prepare_rows(int b) {
  const int R = x.rel_dim;
  real* to = scratch(r_rows_buffer, int64_t(tables) * columns * R);
  r_rows = to;
  for (int t = 0; t < tables; ++t)
    for (int c = 0; c < columns; ++c, to += R)
      write_channels(to, R, [from = x.r + h.pair_row(pair(b, t, c)) * R]<int W>(int e) { return load<W>(from + e); });
}

// s (m, width) += scale q_i . k_j, or = without a relative part; each pair from its own piece
inline void Tile::content(real* s, int b) const {
  const int D = x.head_dim, q_step = x.heads * D, k_step = x.kv_heads * D;
  real* k = scratch(keys_buffer, int64_t(D) * width);  // scale k^T, (D, width)
  const bool add = x.q_rel;
  for (int u = 0; u < pieces; ++u) {
    const AttentionPiece& p = x.piece[piece[u]];
    const KeyRange c = overlap(columns_of(piece[u]), {0, keys_of(b)});
    if (c.empty()) continue;
    const int count = c.end - c.first, computed = rounded_up(count, lanes / 2);
    for (int d = 0; d < D; ++d)
      for (int j = count; j < computed; ++j) k[d * width + j] = 0;
    transpose_rows(
        count, D, [at = p.k + h.key_row(b, j0 + c.first) * D, k_step](int j) { return at + int64_t(j) * k_step; },
        x.scale, k, width);
    const Left q = {p.q + h.query_row(b, i0) * D, q_step, 1};
    if (pieces == 1) return gemm(m, computed, D, q, k, width, s + c.first, width, {.add = add});
    real* own = scratch(piece_buffer, int64_t(m) * width + lanes);
    gemm(m, computed, D, q, k, width, own + c.first, width, {});
    for (int i = 0; i < m; ++i) {
      const KeyRange seen = overlap(columns_of(piece[u], i), c);
      real *row = s + i * width, *from = own + i * width;
      for (int j = seen.first / lanes * lanes; j < seen.end; j += lanes) {
        const Vec before = load(row + j), product = load(from + j);
        store(row + j, inside(seen, j, add ? before + product : product, before));
      }
    }
  }
}

inline void Tile::products(real* s, int from, int to) const {
  if (x.q_rel) {
    const int R = x.rel_dim;
    const ptrdiff_t next = ptrdiff_t(x.queries) * x.heads * R;  // to the same query row of the next sequence
    for (int i = 0; i < m; ++i)
      gemm(to - from, filled, R, {x.q_rel + h.query_row(from, i0 + i) * R, next, 1},
           r + start(i, int64_t(R) * table_width), table_width, s + i * width, sequence, {});
  }
  for (int b = from; b < to; ++b) content(s + (b - from) * sequence, b);
}

inline void Tile::finish_row(const real* s, real* to, int b, int i) const {
  const real *g = gain_row(i), *add = bias_row(i);
  const real t = x.temperature ? x.temperature[temperature_at(b, i)] : real(1);
  KeyRange seen[max_pieces];
  const int count = pieces, padding = keys_of(b);
  for (int u = 0; u < count; ++u) seen[u] = overlap(columns_of(piece[u], i), {0, padding});
  for (int j = 0; j < width; j += lanes) {
    Vec v = g ? load(s + j) * load(g + j) : load(s + j), logit = splat(neg_infinity);
    v = t * (add ? v + load(add + j) : v);
    for (int u = 0; u < count; ++u) logit = inside(seen[u], j, v, logit);
    store(to + j, logit);
  }
}

// The logits of keys j .. j + lanes - 1; -infinity from key `seen` on.
inline Vec logit(const real* s, const real* bias, int j, int seen) {
  const Vec v = bias ? load(s + j) + load(bias + j) : load(s + j);
  return j + lanes <= seen ? v : first_lanes(seen - j) ? v : splat(neg_infinity);
}

// Calls work(head, part, from, to) for each unit, sequences from .. to - 1, on all threads. together: the number
// of neighbouring heads that stay on one thread; heads that share cache lines do anyway.
template <class Work>
void for_units(const AttentionArgs& x, const Tiling& tiling, int together, const Work& work) {
  const int narrow = smaller(x.head_dim, x.value_dim), line = 64 / int(sizeof(real));
  const int bundle = rounded_up(narrow < line ? line / narrow : 1, together), bundles = (x.heads + bundle - 1) / bundle;
  parallel_for(int64_t(tiling.parts) * bundles, [&](int64_t u) {
    const NoSubnormals none;
    const int part = int(u) / bundles, from = part * tiling.part_size, first = int(u) % bundles * bundle;
    for (int head = first; head < smaller(first + bundle, x.heads); ++head)
      work(Head{x, head}, part, from, smaller(from + tiling.part_size, x.batch));
  });
}

// Calls work(keys, is_first, is_last) for each tile of the keys that queries i0 .. i0 + m - 1 see, or once, for an
// empty tile, if they see none.
template <class Work>
void for_key_tiles(const AttentionArgs& x, int i0, int m, const Work& work) {
  constexpr int near = 32;  // ranges closer than this are joined: the unseen keys between cost less than another tile
  KeyRange ranges[max_pieces] = {{0, 0}};
  int count = 0;
  for (int p = 0; p < x.pieces; ++p) {
    const KeyRange keys = seen_keys(x, x.piece[p], i0, m);
    if (keys.empty()) continue;
    int at = count++;
    for (; at > 0 && ranges[at - 1].first > keys.first; --at) ranges[at] = ranges[at - 1];
    ranges[at] = keys;
  }
  int last = 0;
  for (int u = 1; u < count; ++u)
    if (ranges[u].first <= ranges[last].end + near)
      ranges[last].end = larger(ranges[last].end, ranges[u].end);
    else
      ranges[++last] = ranges[u];
  for (int u = 0; u <= last; ++u) {
    int j0 = ranges[u].first;
    do {
      const int end = smaller(j0 + Tiling::max_keys, ranges[u].end);
      work(KeyRange{j0, end}, u == 0 && j0 == ranges[u].first, u == last && end == ranges[u].end);
      j0 = end;
    } while (j0 < ranges[u].end);
  }
}

// For each tile: begin(tile, b) after its tables are filled, for the sequences from b on; work(tile, from, to) for each
// group of sequences; and end(tile, b).
template <class Begin, class Work, class End>
void for_tiles(const Head& h, const Tiling& tiling, int from, int to, const Begin& begin, const Work& work,
               const End& end) {
  const AttentionArgs& x = h.x;
  const bool tables = x.q_rel || x.gain || x.bias;
  const int shared = tables && x.pairs_batch == 1 ? to - from : 1;  // number of sequences that one set of tables serves
  for (int b0 = from; b0 < to; b0 += shared)
    for (int i0 = 0; i0 < x.queries && !cancelled(); i0 += tiling.block_rows) {
      const int m = smaller(tiling.block_rows, x.queries - i0);
      for_key_tiles(x, i0, m, [&](KeyRange keys, bool first, bool last) {
        Tile tile(h, i0, m, keys, first, last);
        tile.prepare(b0);
        begin(tile, b0);
        for (int b = b0; b < b0 + shared; b += tiling.group) work(tile, b, smaller(b + tiling.group, b0 + shared));
        end(tile, b0);
      });
    }
}

}  // namespace poslab::POSLAB_ISA
