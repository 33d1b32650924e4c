// Fused attention, forward: the weights of a block of query rows live in the cache and are never stored. The formula and the
// shapes stand at AttentionArgs in core/kernels.h; the logits are filled in core/cpu/logits.h.
//
// Where a block sees more keys than a tile holds, what a row has gathered fades when a larger logit turns up
// (Milakov & Gimelshein 2018, Dao et al. 2022):
//
//   m' = max(m, max_j s_ij)   z' = exp(m - m') z + sum_j exp(s_ij - m')   o' = exp(m - m') o + sum_j exp(s_ij - m') v_j
#include "core/cpu/logits.h"

namespace poslab::POSLAB_ISA {
namespace {

// Of one row, over the tiles so far; `fade` is exp(m - m') of the last step, for what was gathered before it.
struct Softmax {
  real max, sum, fade;
};

// Rows of products s -> e_ij = exp(s_ij - max_i), where max_i and z_i = sum_j e_ij go on in `rows`; behind the keys that are
// seen e is 0.
void exponentials(real* s, Softmax* rows, const Tile& tile, int b) {
  const int width = tile.width, m = tile.m;
  const bool leading = tile.leading, goes_on = !tile.first;
  const Tile::Seen seen_by = leading ? tile.seen(b) : Tile::Seen{tile.n, tile.n};
  for (int i = 0; i < m; ++i) {
    real* si = s + i * width;
    if (!leading) tile.finish_row(si, b, i);
    const real* bias = leading ? tile.bias_row(i) : nullptr;
    const int seen = seen_by(i);
    Vec top = logit(si, bias, 0, seen), total{};
    for (int j = lanes; j < seen; j += lanes) top = max(top, logit(si, bias, j, seen));
    real highest = max_lanes(top);
    if (goes_on && rows[i].max > highest) highest = rows[i].max;
    const real shift = highest == neg_infinity ? 0 : highest;  // no key seen: all e are 0
    for (int j = 0; j < seen; j += lanes) {
      const Vec e = exp_small(logit(si, bias, j, seen) - shift);
      store(si + j, e);
      total += e;
    }
    for (int j = whole_vectors(seen); j < width; j += lanes) store(si + j, Vec{});
    const real fade = goes_on ? exp_small(splat(rows[i].max - shift))[0] : real(0), z = sum_lanes(total);
    rows[i] = {highest, goes_on ? fade * rows[i].sum + z : z, fade};
  }
}

real inverse_of(real sum) { return sum == 0 ? real(0) : 1 / sum; }

// Calls done(tile, b, e, rows) with e_ij = exp(s_ij - max_i) of sequence b and softmax_i at `rows`, tile after tile.
template <class Done>
void for_weights(const AttentionArgs& x, const Done& done) {
  const Plan plan(x);
  const auto nothing = [](const Tile&, int) {};
  for_units(x, plan, 1, [&](const Head& h, int, int first, int last) {
    for_tiles(
        h, plan, first, last, nothing,
        [&](const Tile& tile, int from, int to) {
          real* s = scratch(logits_slot, (to - from) * tile.sequence);
          tile.products(s, from, to);
          // A row's softmax waits here from tile to tile; where there is only one, it stays in the cache.
          Softmax* rows = reinterpret_cast<Softmax*>(scratch(softmax_slot, int64_t(last - first) * Plan::max_rows * 3));
          for (int b = from; b < to; ++b, s += tile.sequence) {
            Softmax* own = tile.first && tile.last ? rows : rows + (b - first) * Plan::max_rows;
            exponentials(s, own, tile, b);
            done(tile, b, s, own);
          }
        },
        nothing);
  });
}

}  // namespace

// o_i = sum_j e_ij v_j / z_i,  e_ij = exp(s_ij - max_i),  z_i = sum_j e_ij
void attention(real* o, real* stats, const AttentionArgs& x) {
  for_weights(x, [&](const Tile& tile, int b, const real* e, const Softmax* rows) {
    const Head& h = tile.h;
    const int D = x.value_dim, step = x.heads * D;
    real *oi = o + h.query_row(b, tile.i0) * D, *kept = stats + 2 * ((int64_t(b) * x.heads + h.head) * x.queries + tile.i0);
    if (!tile.first)
      for (int i = 0; i < tile.m; ++i)
        write_channels(oi + i * step, D, [at = oi + i * step, f = rows[i].fade]<int W>(int d) { return load<W>(at + d) * f; });
    gemm(tile.m, D, tile.keys_of(b), {e, tile.width, 1}, x.v + h.key_row(b, tile.j0) * D, x.kv_heads * D, oi, step, !tile.first);
    for (int i = 0; tile.last && i < tile.m; ++i, oi += step, kept += 2) {
      const real inverse = inverse_of(rows[i].sum);
      write_channels(oi, D, [=]<int W>(int d) { return load<W>(oi + d) * inverse; });
      kept[0] = inverse == 0 ? real(0) : rows[i].max, kept[1] = inverse;
    }
  });
}

void attention_weights(real* a, const AttentionArgs& x) {
  for_weights(x, [&](const Tile& tile, int b, const real* e, const Softmax* rows) {
    real* ai = a + ((int64_t(b) * x.heads + tile.h.head) * x.queries + tile.i0) * x.keys;
    const int behind = tile.j0 + tile.n;
    for (int i = 0; i < tile.m; ++i, ai += x.keys, e += tile.width) {
      const real factor = tile.last ? inverse_of(rows[i].sum) : real(1), before = factor * rows[i].fade;
      if (tile.first) __builtin_memset(ai, 0, size_t(tile.j0) * sizeof(real));
      if (!tile.first && before != 1)
        write_row(ai, false, tile.j0, [&](int j, int count) { return load_some(ai + j, count) * before; });
      write_row(ai + tile.j0, false, tile.n, [&](int j, int count) { return load_some(e + j, count) * factor; });
      if (tile.first) __builtin_memset(ai + behind, 0, size_t(x.keys - behind) * sizeof(real));
    }
  });
}

}  // namespace poslab::POSLAB_ISA
