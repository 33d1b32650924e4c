// Five statistics of each row of attention: the keys come a tile at a time, and no weight is stored. The
// logits are filled in core/cpu/attention/logits.h.
//
//   m' = max(m, max_j s_ij)   z' = f z + sum_j e_j   w' = f (w + (m - m') z) + sum_j e_j (s_ij - m')
//   with f = exp(m - m'), e_j = exp(s_ij - m'):      max_j a_ij = 1 / z,   -sum_j a_ij ln a_ij = ln z - w / z
//
// Mean and squared differences of two parts of a row are joined as Chan, Golub and LeVeque (1979) do.
#include "core/cpu/attention/logits.h"

namespace poslab::POSLAB_ISA {
namespace {

// The statistics of one row, over the tiles so far.
struct Gathered {
  real max = neg_infinity, z = 0, w = 0, count = 0, mean = 0, squares = 0;  // squares: sum of (s_ij - mean)^2
};

void join(Gathered& row, real count, real mean, real squares) {
  const real both = row.count + count, apart = mean - row.mean;
  row.squares += squares + apart * apart * row.count * count / both;
  row.mean += apart * count / both, row.count = both;
}

// s: (width), -infinity where a key is not seen
void gather(Gathered& row, const real* s, int width) {
  Vec top = splat(row.max), total{}, seen{};
  for (int j = 0; j < width; j += lanes) {
    const Vec v = load(s + j);
    const LaneMask hidden = v == neg_infinity;
    top = max(top, v), total += hidden ? Vec{} : v, seen += hidden ? Vec{} : splat(1);
  }
  const real count = sum_lanes(seen);
  if (count == 0) return;
  const real highest = max_lanes(top), mean = sum_lanes(total) / count;
  Vec z{}, w{}, squares{};
  for (int j = 0; j < width; j += lanes) {
    const Vec v = load(s + j), below = v - highest, apart = v - mean;
    const LaneMask hidden = v == neg_infinity;
    const Vec e = exp_unclamped(below);
    z += e, w += hidden ? Vec{} : e * below, squares += hidden ? Vec{} : apart * apart;
  }
  const real fade = exp_unclamped(splat(row.max - highest))[0];  // 0 in the first tile with a key
  if (row.z != 0) row.w = fade * (row.w + (row.max - highest) * row.z);
  row.z = fade * row.z + sum_lanes(z), row.w += sum_lanes(w), row.max = highest;
  join(row, count, mean, sum_lanes(squares));
}

void write(real* y, const Gathered& row) {
  const bool any = row.count > 0;
  y[0] = any ? 1 / row.z : real(0);
  y[1] = any ? real(__builtin_log(double(row.z))) - row.w / row.z : real(0);
  y[2] = any ? row.max : real(0);
  y[3] = row.mean;
  y[4] = any ? row.squares / row.count : real(0);
}

}  // namespace

void attention_statistics(real* y, const AttentionArgs& x) {
  const Tiling tiling(x);
  const auto nothing = [](const Tile&, int) {};
  for_units(x, tiling, 1, [&](const Head& h, int, int first, int end) {
    constexpr int reals = sizeof(Gathered) / sizeof(real);
    const int64_t of_rows = int64_t(end - first) * Tiling::max_rows * reals;
    auto* rows = reinterpret_cast<Gathered*>(scratch(softmax_buffer, of_rows));  // kept from tile to tile
    const auto work = [&](const Tile& tile, int from, int to) {
      real* s = scratch(logits_buffer, (to - from) * tile.sequence);
      tile.products(s, from, to);
      for (int b = from; b < to; ++b, s += tile.sequence)
        for (int i = 0; i < tile.m; ++i) {
          Gathered& row = rows[(b - first) * Tiling::max_rows + i];
          real* si = s + i * tile.width;
          if (tile.first) row = {};
          tile.finish_row(si, si, b, i);
          gather(row, si, tile.width);
          const int64_t at = (int64_t(b) * x.heads + h.head) * x.queries + tile.i0 + i;
          if (tile.last) write(y + at * statistics_per_row, row);
        }
    };
    for_tiles(h, tiling, first, end, nothing, work, nothing);
  });
}

}  // namespace poslab::POSLAB_ISA
