// Attention in tiles, forward: the weights of a block of query rows live in the cache and are never stored. The formula
// and the shapes are at AttentionArgs in core/kernels.h; the logits are filled in logits.h.
//
// Where a block sees more keys than a tile holds, the sums of a row are scaled down for each tile with a larger logit
// (Milakov & Gimelshein 2018, Dao et al. 2022):
//
//   m' = max(m, max_j s_ij)   z' = exp(m - m') z + sum_j exp(s_ij - m')   o' = exp(m - m') o + sum_j exp(s_ij - m') v_j
#include "core/cpu/attention/logits.h"

namespace poslab::POSLAB_ISA {
namespace {

// The softmax of one row over the tiles so far. `fade` is exp(m - m') of the latest tile: its factor on the sums before
// it.
struct Softmax {
  real max, sum, fade;
};

// A row's logits are lowered by its maximum, or by 0 where it sees no key or a bias of -infinity hides all keys.
real shift_of(real highest) { return highest == neg_infinity ? real(0) : highest; }

// exponentials() for a block with a single tile that is `leading`: no earlier sum is scaled down.
void exponentials_of_leading(real* s, Softmax* rows, const Tile& tile, int b) {
  const int width = tile.width, m = tile.m;
  const Tile::Seen seen_by = tile.seen(b);
  for (int i = 0; i < m; ++i) {
    real* si = s + i * width;
    const real* bias = tile.bias_row(i);
    const int seen = seen_by(i);
    Vec top = logit(si, bias, 0, seen), total{};
    for (int j = lanes; j < seen; j += lanes) top = max(top, logit(si, bias, j, seen));
    const real highest = max_lanes(top), shift = shift_of(highest);
    for (int j = 0; j < seen; j += lanes) {
      const Vec e = exp_unclamped(logit(si, bias, j, seen) - shift);
      store(si + j, e);
      total += e;
    }
    for (int j = whole_vectors(seen); j < width; j += lanes) store(si + j, Vec{});
    rows[i].max = highest, rows[i].sum = sum_lanes(total);
  }
}

// Rows of products s -> e_ij = exp(s_ij - max_i), 0 where no key is seen; `rows` has max_i and z_i = sum_j e_ij of the
// tiles so far.
void exponentials(real* s, Softmax* rows, const Tile& tile, int b) {
  if (tile.leading && tile.first && tile.last) return exponentials_of_leading(s, rows, tile, b);
  for (int i = 0; i < tile.m; ++i, s += tile.width) {
    tile.finish_row(s, s, b, i);
    const real before = tile.first ? neg_infinity : rows[i].max;
    Vec top = splat(before), total{};
    for (int j = 0; j < tile.width; j += lanes) top = max(top, load(s + j));
    const real highest = max_lanes(top), shift = shift_of(highest);
    for (int j = 0; j < tile.width; j += lanes) {
      const Vec e = exp_unclamped(load(s + j) - shift);
      store(s + j, e);
      total += e;
    }
    const real fade = tile.first ? real(0) : exp_unclamped(splat(before - shift))[0];
    rows[i] = {highest, tile.first ? sum_lanes(total) : fade * rows[i].sum + sum_lanes(total), fade};
  }
}

real inverse_of(real sum) { return sum == 0 ? real(0) : 1 / sum; }

// Calls done(tile, b, e, rows), tile after tile, with e_ij = exp(s_ij - max_i) of sequence b and each row's Softmax.
template <class Done>
void for_weights(const AttentionArgs& x, const Done& done) {
  const Tiling tiling(x);
  const auto nothing = [](const Tile&, int) {};
  for_units(x, tiling, 1, [&](const Head& h, int, int first, int end) {
    Softmax* kept = nullptr;  // one for each row, kept from tile to tile
    for_tiles(
        h, tiling, first, end, nothing,
        [&](const Tile& tile, int from, int to) {
          real* s = scratch(logits_buffer, (to - from) * tile.sequence);
          tile.products(s, from, to);
          const bool waits = !tile.last || !tile.first;
          if (waits && !kept)
            kept = reinterpret_cast<Softmax*>(scratch(softmax_buffer, int64_t(end - first) * Tiling::max_rows * 3));
          Softmax here[Tiling::max_rows];
          for (int b = from; b < to; ++b, s += tile.sequence) {
            Softmax* own = waits ? kept + (b - first) * Tiling::max_rows : here;
            exponentials(s, own, tile, b);
            done(tile, b, s, own);
          }
        },
        nothing);
  });
}

}  // namespace

// o_i = sum_j e_ij v_j / z_i,  e_ij = exp(s_ij - max_i),  z_i = sum_j e_ij
void tiled_forward(real* o, real* stats, const AttentionArgs& x) {
  for_weights(x, [&](const Tile& tile, int b, const real* e, const Softmax* rows) {
    const Head& h = tile.h;
    const int D = x.value_dim, step = x.heads * D;
    real *oi = o + h.query_row(b, tile.i0) * D,
         *kept = stats + 2 * ((int64_t(b) * x.heads + h.head) * x.queries + tile.i0);
    if (!tile.first)
      for (int i = 0; i < tile.m; ++i)
        write_channels(oi + i * step, D,
                       [at = oi + i * step, f = rows[i].fade]<int W>(int d) { return load<W>(at + d) * f; });
    gemm(tile.m, D, tile.keys_of(b), {e, tile.width, 1}, x.v + h.key_row(b, tile.j0) * D, x.kv_heads * D, oi, step,
         {.add = !tile.first});
    if (!tile.last) return;
    const int m = tile.m;
    for (int i = 0; i < m; ++i, oi += step, kept += 2) {
      const real inverse = inverse_of(rows[i].sum);
      write_channels(oi, D, [=]<int W>(int d) { return load<W>(oi + d) * inverse; });
      kept[0] = inverse == 0 ? real(0) : rows[i].max, kept[1] = inverse;
    }
  });
}

// a_ij = e_ij / z_i. If the keys span several tiles, each tile scales down the e_ij before it, and all are
// divided by z_i after the last tile.
void attention_weights(real* a, const AttentionArgs& x) {
  for_weights(x, [&](const Tile& tile, int b, const real* e, const Softmax* rows) {
    real* ai = a + ((int64_t(b) * x.heads + tile.h.head) * x.queries + tile.i0) * x.keys;
    const int keys = x.keys, width = tile.width, m = tile.m, n = tile.n, j0 = tile.j0, after = keys - j0 - n;
    const bool first = tile.first, last = tile.last;
    if (first && last && n == keys) {  // the usual case: nothing to clear or to scale down
      for (int i = 0; i < m; ++i, ai += keys, e += width) {
        const real inverse = inverse_of(rows[i].sum);
        write_row(ai, false, keys, [&](int j, int count) { return load_some(e + j, count) * inverse; });
      }
      return;
    }
    for (int i = 0; i < m; ++i, ai += keys, e += width) {
      const real factor = last ? inverse_of(rows[i].sum) : real(1);
      write_row(ai + j0, false, n, [&](int j, int count) { return load_some(e + j, count) * factor; });
      if (first) {
        if (j0 > 0) __builtin_memset(ai, 0, size_t(j0) * sizeof(real));
        if (after > 0) __builtin_memset(ai + j0 + n, 0, size_t(after) * sizeof(real));
      } else if (const real before = factor * rows[i].fade; before != 1) {
        write_row(ai, false, j0, [&](int j, int count) { return load_some(ai + j, count) * before; });
      }
    }
  });
}

}  // namespace poslab::POSLAB_ISA
