// Attention in tiles, backward. The weights are computed again from the logits and the two numbers kept for each row:
//
//   a_ij = exp(s_ij - max_i) / z_i                 ds_ij = a_ij (do_i . v_j - delta_i), delta_i = do_i . o_i
//   dtemperature_i += sum_j ds_ij u_ij             du_ij = temperature_i ds_ij
//   dbias[p] += sum_ij [pair(i,j) = p] du_ij       dgain[p] += the same, of du_ij scale (q_i . k_j + q_rel_i . r[p])
//
// and with dx_ij = scale gain[pair] du_ij
//
//   dv_j += sum_i a_ij do_i     dq_i += sum_j dx_ij k_j     dk_j += sum_i dx_ij q_i
//   dq_rel_i += sum_j dx_ij r[pair(i,j)]           dr[p] += sum_ij [pair(i,j) = p] dx_ij q_rel_i
//
// dr, dgain and dbias sum over the whole batch: each unit has partial sums of its own, which are added in order.
#include "core/cpu/attention/logits.h"

namespace poslab::POSLAB_ISA {
namespace {

real* zeros(int buffer, int64_t n) {
  return static_cast<real*>(__builtin_memset(scratch(buffer, n), 0, size_t(n) * sizeof(real)));
}

// One head's gradients of r, gain and bias. A unit's have shapes (rows, R), (rows) and (rows); a tile's are laid out
// like its tables: (R, columns), (columns) and (columns).
struct TableGrads { real *r = nullptr, *gain = nullptr, *bias = nullptr; };

// A unit of work: arguments, gradients, and the partial sums of the unit and of its current tile.
struct Unit {
  const AttentionArgs& x;
  const AttentionGrads& d;
  const real *d_o = nullptr, *o = nullptr, *stats = nullptr;
  real* dtemperature = nullptr;  // (batch, heads, queries), or null
  TableGrads sum, of_tile = {};

  void begin(const Tile&);
  void work(const Tile&, int from, int to) const;
  void end(const Tile&, int b) const;

 private:
  void weights_and_grads(const Tile&, real* s, real* ds, int b) const;
  void weights_and_grads_of_row(const Tile&, real* s, real* ds, int b, int i, const real* kept, real delta) const;
  void products(const Tile&, const real* a, const real* dx, int b) const;
  void keys(const Tile&, Accumulator, KeyRange, const real* weight, const real* y, int n, int b) const;
  void piece(const Tile&, int p, const real* dx, int b) const;
  void relative(const Tile&, const real* dx, int from, int to) const;
};

// s (m, width) -> a in s, dx in ds
void Unit::weights_and_grads(const Tile& tile, real* s, real* ds, int b) const {
  const Head& h = tile.h;
  const int D = x.value_dim, step = x.heads * D, width = tile.width;
  real* v = scratch(values_buffer, int64_t(D) * width);  // v^T, (D, width)
  transpose(tile.n, D, x.v + h.key_row(b, tile.j0) * D, x.kv_heads * D, v, width);
  for (int e = 0; e < D; ++e)
    for (int j = tile.n; j < width; ++j) v[e * width + j] = 0;
  const int64_t first = h.query_row(b, tile.i0) * D;
  gemm(tile.m, tile.filled, D, {d_o + first, step, 1}, v, width, ds, width, {});
  const real* kept = stats + 2 * ((int64_t(b) * x.heads + h.head) * x.queries + tile.i0);
  const Tile::Seen seen_by = tile.seen(b);
  for (int i = 0; i < tile.m; ++i, s += width, ds += width, kept += 2) {
    const real delta = dot_row(d_o + first + i * step, o + first + i * step, D);
    if (!tile.leading) {
      weights_and_grads_of_row(tile, s, ds, b, i, kept, delta);
      continue;
    }
    const int seen = seen_by(i);
    const real* bias = tile.bias_row(i);
    int j = 0;
    for (; j < seen; j += lanes) {
      const Vec a = exp_unclamped(logit(s, bias, j, seen) - kept[0]) * kept[1],
                g = x.scale * a * (load(ds + j) - delta);
      store(s + j, a);
      store(ds + j, first_lanes(seen - j) ? g : Vec{});   // padding may hold NaN
    }
    for (; j < width; j += lanes) store(s + j, Vec{}), store(ds + j, Vec{});
  }
}

// weights_and_grads() for one row of a tile that is not `leading`.
void Unit::weights_and_grads_of_row(const Tile& tile, real* s, real* ds, int b, int i, const real* kept,
                                    real delta) const {
  real* logits = scratch(row_buffer, tile.width);
  tile.finish_row(s, logits, b, i);
  const real *gain = tile.gain_row(i), *bias = tile.bias_row(i);
  real* dgain = of_tile.gain ? of_tile.gain + tile.start(i, tile.table_width) : nullptr;
  const real temperature = x.temperature ? x.temperature[tile.temperature_at(b, i)] : real(1);
  Vec of_temperature{};
  for (int j = 0; j < tile.width; j += lanes) {
    const Vec logit = load(logits + j), g = gain ? load(gain + j) : splat(1), product = load(s + j);
    const auto masked = logit == neg_infinity;
    const Vec a = exp_unclamped(logit - kept[0]) * kept[1], d_s = masked ? Vec{} : a * (load(ds + j) - delta);
    const Vec du = temperature * d_s, u = bias ? g * product + load(bias + j) : g * product;
    of_temperature += masked ? Vec{} : d_s * u;
    if (dgain) store(dgain + j, load(dgain + j) + (masked ? Vec{} : du * product));
    store(s + j, a);
    store(ds + j, x.scale * g * du);
    // dbias is summed here, since dx contains the gain. tiled_backward() divides the total by scale.
    if (of_tile.bias) {
      real* dbias = of_tile.bias + tile.start(i, tile.table_width) + j;
      store(dbias, load(dbias) + x.scale * du);
    }
  }
  if (dtemperature) {
    real& sum = dtemperature[(int64_t(b) * x.heads + tile.h.head) * x.queries + tile.i0 + i];
    sum = tile.first ? sum_lanes(of_temperature) : sum + sum_lanes(of_temperature);
  }
}

// to_j += sum_i weight_ij y_i for the columns c of the tile   y: (B, queries, heads, n)   to: (B, keys, kv_heads, n)
void Unit::keys(const Tile& tile, Accumulator to, KeyRange c, const real* weight, const real* y, int n, int b) const {
  if (!to) return;
  const Head& h = tile.h;
  const int step = x.kv_heads * n;
  // Whether no tile has written to these keys yet: this is the first block of the first head that shares them.
  const bool assign = to.empty && tile.i0 == 0 && tile.first && h.head % (x.heads / x.kv_heads) == 0;
  real* at = to.at + h.key_row(b, 0) * n;
  if (!c.empty())
    gemm(c.end - c.first, n, tile.m, {weight + c.first, 1, tile.width}, y + h.query_row(b, tile.i0) * n, x.heads * n,
         at + int64_t(tile.j0 + c.first) * step, step, {.add = !assign});
  if (!assign) return;
  const auto clear = [&](int from, int until) {
    for (int j = from; j < until; ++j) __builtin_memset(at + int64_t(j) * step, 0, size_t(n) * sizeof(real));
  };
  if (c.empty()) return clear(0, x.keys);
  clear(0, tile.j0 + c.first), clear(tile.j0 + c.end, x.keys);
}

// dq and dk of one piece, from its own columns of dx
void Unit::piece(const Tile& tile, int p, const real* dx, int b) const {
  const Head& h = tile.h;
  const int D = x.head_dim, step = x.heads * D, width = tile.width;
  const KeyRange c = overlap(tile.columns_of(p), {0, tile.keys_of(b)});
  if (tile.pieces > 1 && !c.empty()) {
    real* own = scratch(piece_buffer, int64_t(tile.m) * width);
    for (int i = 0; i < tile.m; ++i) {
      const KeyRange seen = overlap(tile.columns_of(p, i), c);
      const real* from = dx + i * width;
      for (int j = c.first / lanes * lanes; j < c.end; j += lanes)
        store(own + i * width + j, inside(seen, j, load(from + j), Vec{}));
    }
    dx = own;
  }
  keys(tile, d.k[p], c, dx, x.piece[p].q, D, b);
  const bool add = !tile.first || !d.q[p].empty;
  if (!d.q[p] || (c.empty() && add)) return;
  gemm(tile.m, D, c.empty() ? 0 : c.end - c.first, {dx + c.first, width, 1},
       x.piece[p].k + h.key_row(b, tile.j0 + c.first) * D, x.kv_heads * D, d.q[p].at + h.query_row(b, tile.i0) * D,
       step, {.add = add});
}

// dv, dk and dq of one sequence
void Unit::products(const Tile& tile, const real* a, const real* dx, int b) const {
  keys(tile, d.v, {0, tile.keys_of(b)}, a, d_o, x.value_dim, b);
  for (int p = 0; p < x.pieces; ++p) piece(tile, p, dx, b);
}

// dq_rel of a group, and the tile's sums of dr and dbias
void Unit::relative(const Tile& tile, const real* dx, int from, int to) const {
  const int R = x.rel_dim, count = to - from, width = tile.table_width;
  const ptrdiff_t next = ptrdiff_t(x.queries) * x.heads * R;  // to the same query row of the next sequence
  for (int i = 0; i < tile.m; ++i) {
    const real* dxi = dx + i * tile.width;
    const int64_t query = tile.h.query_row(from, tile.i0 + i) * R;
    if (d.q_rel)
      gemm(count, R, tile.n, {dxi, tile.sequence, 1}, tile.r_rows + tile.start(i, int64_t(tile.n) * R, R), R,
           d.q_rel.at + query, next, {.add = !d.q_rel.empty || !tile.first});
    if (of_tile.r)
      gemm(R, tile.filled, count, {x.q_rel + query, 1, next}, dxi, tile.sequence,
           of_tile.r + tile.start(i, int64_t(R) * width), width, {.add = true});
    if (of_tile.bias && tile.leading)
      for (int b = 0; b < count; ++b)
        write_row(of_tile.bias + tile.start(i, width), true, tile.n,
                  [at = dxi + b * tile.sequence](int j, int some) { return load_some(at + j, some); });
  }
}

void Unit::begin(const Tile& tile) {
  const int64_t size = int64_t(tile.tables) * tile.table_width;
  if (sum.r) of_tile.r = zeros(r_grads_buffer, size * x.rel_dim);
  if (sum.gain) of_tile.gain = zeros(gain_grads_buffer, size);
  if (sum.bias) of_tile.bias = zeros(bias_grads_buffer, size);
}

void Unit::work(const Tile& tile, int from, int to) const {
  real *s = scratch(logits_buffer, (to - from) * tile.sequence),
       *ds = scratch(logit_grads_buffer, (to - from) * tile.sequence);
  tile.products(s, from, to);
  for (int b = from; b < to; ++b) {
    const ptrdiff_t at = (b - from) * tile.sequence;
    weights_and_grads(tile, s + at, ds + at, b);
    products(tile, s + at, ds + at, b);
  }
  relative(tile, ds, from, to);
}

// The tile's sums go to the rows of r, gain and bias that belong to its columns.
void Unit::end(const Tile& tile, int b) const {
  const int R = x.rel_dim, width = tile.table_width;
  for (int t = 0; t < tile.tables; ++t) {
    if (of_tile.r) {
      real* transposed = scratch(values_buffer, int64_t(tile.columns) * R);  // (columns, R)
      transpose(R, tile.columns, of_tile.r + int64_t(t) * R * width, width, transposed, R);
      for (int c = 0; c < tile.columns; ++c, transposed += R) {
        real* to = sum.r + tile.pair(b, t, c) * R;
        write_channels(to, R, [=]<int W>(int e) { return load<W>(to + e) + load<W>(transposed + e); });
      }
    }
    for (int c = 0; of_tile.gain && c < tile.columns; ++c)
      sum.gain[tile.pair(b, t, c)] += of_tile.gain[int64_t(t) * width + c];
    for (int c = 0; of_tile.bias && c < tile.columns; ++c)
      sum.bias[tile.pair(b, t, c)] += of_tile.bias[int64_t(t) * width + c];
  }
}

// to[p][head] += factor * sum over parts of partial[part][head][p], each n reals
void add_partials(Accumulator to, const AttentionArgs& x, int parts, const real* partial, int64_t stride, int n,
                  real factor) {
  parallel_ranges(x.rows, 64, [&](int64_t from, int64_t until) {
    for (int64_t p = from; p < until; ++p)
      for (int head = 0; head < x.heads; ++head) {
        real* sum = to.at + (p * x.heads + head) * n;
        write_channels(sum, n, [&]<int W>(int e) {
          VecOf<W> total{};
          for (int part = 0; part < parts; ++part)
            total += load<W>(partial + (int64_t(part) * x.heads + head) * stride + p * n + e);
          return to.empty ? factor * total : load<W>(sum + e) + factor * total;
        });
      }
  });
}

// dtemperature (1 or batch, queries, 1 or heads) += grads (batch, heads, queries), summed where shared
void add_temperatures(Accumulator to, const AttentionArgs& x, const real* grads) {
  const int64_t count = int64_t(x.temperature_batch) * x.queries * x.temperature_heads;
  if (to.empty) __builtin_memset(to.at, 0, size_t(count) * sizeof(real));
  for (int b = 0; b < x.batch; ++b)
    for (int head = 0; head < x.heads; ++head)
      for (int i = 0; i < x.queries; ++i, ++grads) {
        const int64_t row = (x.temperature_batch == 1 ? 0 : int64_t(b)) * x.queries + i;
        to.at[x.temperature_heads == 1 ? row : row * x.heads + head] += *grads;
      }
}

}  // namespace

void tiled_backward(const AttentionGrads& d, const AttentionArgs& x, const real* d_o, const real* o,
                    const real* stats) {
  const Tiling tiling(x);
  const int64_t of_r = d.r ? int64_t(x.rows) * x.rel_dim : 0, of_gain = d.gain ? x.rows : 0,
                of_bias = d.bias ? x.rows : 0;
  const int64_t stride = of_r + of_gain + of_bias;
  real* partial = stride ? scratch(partial_sums_buffer, stride * tiling.parts * x.heads) : nullptr;
  real* dtemperature =
      d.temperature ? scratch(temperature_grads_buffer, int64_t(x.batch) * x.heads * x.queries) : nullptr;
  for_units(x, tiling, x.heads / x.kv_heads, [&](const Head& h, int part, int first, int end) {
    real* at = partial + (int64_t(part) * x.heads + h.head) * stride;
    if (stride) __builtin_memset(at, 0, size_t(stride) * sizeof(real));
    const TableGrads sum = {d.r ? at : nullptr, d.gain ? at + of_r : nullptr, d.bias ? at + of_r + of_gain : nullptr};
    Unit unit{x, d, d_o, o, stats, dtemperature, sum};
    for_tiles(
        h, tiling, first, end,
        [&](Tile& tile, int b) {
          if (d.q_rel) tile.prepare_rows(b);
          unit.begin(tile);
        },
        [&](const Tile& tile, int from, int to) { unit.work(tile, from, to); },
        [&](const Tile& tile, int b) { unit.end(tile, b); });
  });
  if (d.r) add_partials(d.r, x, tiling.parts, partial, stride, x.rel_dim, 1);
  if (d.gain) add_partials(d.gain, x, tiling.parts, partial + of_r, stride, 1, 1);
  if (d.bias) add_partials(d.bias, x, tiling.parts, partial + of_r + of_gain, stride, 1, 1 / x.scale);
  if (d.temperature) add_temperatures(d.temperature, x, dtemperature);
}

}  // namespace poslab::POSLAB_ISA
