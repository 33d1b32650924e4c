// Rotates pairs of channels by the angles of their slot: y = x cos + partner(x) (-+ sin).
//
// Where the partner of a channel lies in the same vector (small heads), cosines and sines are laid out once per slot as
// one vector for all heads; else halves of a head are worked off side by side.
#include <utility>

#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

// Every lane exchanged with the lane whose number differs in the bit `flip`.
template <int flip, int... i>
Vec exchanged(Vec v, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(v, v, ((i ^ flip) % lanes)...);
}

// A row of n = heads * head_dim channels; cosine and sine repeat after one vector.
template <int flip>
void rotate_lanes(real* y, bool add, const real* x, Vec cosine, Vec sine, int n) {
  write_row(y, add, n, [&](int j, int count) {
    const Vec v = load_some(x + j, count);
    return v * cosine + exchanged<flip>(v, std::make_integer_sequence<int, lanes>()) * sine;
  });
}

// The general case, pair by pair: channels m * step and m * step + gap.
void rotate_pairs(real* y, bool add, const real* x, const real* cosine, const real* sine, int half, int step, int gap,
                real sign) {
  for (int m = 0; m < half; ++m) {
    const real a = x[m * step], b = x[m * step + gap], s = sine[m] * sign;
    const real to_a = a * cosine[m] - b * s, to_b = a * s + b * cosine[m];
    y[m * step] = add ? y[m * step] + to_a : to_a;
    y[m * step + gap] = add ? y[m * step + gap] + to_b : to_b;
  }
}

}  // namespace

void rotate(Accumulator y, const real* x, const real* cosine, const real* sine, int batch, int table_batch, int time,
            int heads, int head_dim, bool interleaved, bool back) {
  if (!y) return;
  const int half = head_dim / 2, n = heads * head_dim, flip = interleaved ? 1 : half;
  const bool in_lanes = lanes % head_dim == 0 && (flip & (flip - 1)) == 0 && flip <= 8;
  const real sign = back ? -1 : 1;
  const int sharing = table_batch == 1 ? batch : 1;              // rows of x that one row of the table serves
  const int64_t work = int64_t(n) * sharing;
  parallel_ranges(int64_t(table_batch) * time, work < 8192 ? 8192 / work : 1, [&](int64_t from, int64_t to) {
    for (int64_t t = from; t < to; ++t) {
      const real *c = cosine + t * half, *s = sine + t * half;
      Vec cs{}, sn{};
      if (in_lanes)
        for (int k = 0; k < lanes; ++k) {
          const int channel = k % head_dim, pair = interleaved ? channel / 2 : channel % half;
          cs[k] = c[pair], sn[k] = (channel & flip) ? s[pair] * sign : -s[pair] * sign;
        }
      for (int64_t row = t; row < t + int64_t(sharing) * time; row += time) {
        const real* in = x + row * n;
        real* out = y.at + row * n;
        if (!in_lanes)
          for (int h = 0; h < n; h += head_dim)
            rotate_pairs(out + h, !y.empty, in + h, c, s, half, interleaved ? 2 : 1, flip, sign);
        else if (flip == 1) rotate_lanes<1>(out, !y.empty, in, cs, sn, n);
        else if (flip == 2) rotate_lanes<2>(out, !y.empty, in, cs, sn, n);
        else if (flip == 4) rotate_lanes<4>(out, !y.empty, in, cs, sn, n);
        else rotate_lanes<8>(out, !y.empty, in, cs, sn, n);
      }
    }
  });
}

}  // namespace poslab::POSLAB_ISA
