// Rotates pairs of channels by the angles of their slot: y = x cos -+ x' sin, x' the other channel of the pair.
//
// Cosines and sines are copied into a table once per slot, one for each channel of a head, or of a vector if several
// small heads share one. The partner x' of a channel is then in the same vector, or half a head away. Heads that
// neither fill whole vectors nor divide one are rotated pair by pair.
#include <utility>

#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/platform/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

// Exchanges every lane with the lane whose number differs in the bit `flip`.
template <int flip, int... i>
Vec exchanged(Vec v, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(v, v, ((i ^ flip) % lanes)...);
}

// Rotates a row of n = heads * head_dim channels; cosine and sine repeat after one vector.
template <int flip>
void rotate_lanes(real* y, bool add, const real* x, Vec cosine, Vec sine, int n) {
  write_row(y, add, n, [&](int j, int count) {
    const Vec v = load_some(x + j, count);
    return v * cosine + exchanged<flip>(v, std::make_integer_sequence<int, lanes>()) * sine;
  });
}

// Rotates heads that consist of whole vectors.
void rotate_heads(real* y, bool add, const real* x, const real* cosine, const real* sine, int n, int head_dim,
                  bool interleaved) {
  const int half = head_dim / 2;
  for (int h = 0; h < n; h += head_dim)
    for (int j = 0; j < head_dim; j += lanes) {
      const real* at = x + h + j;
      const Vec v = load(at), partner = interleaved ? exchanged<1>(v, std::make_integer_sequence<int, lanes>())
                                                    : load(j < half ? at + half : at - half);
      const Vec rotated = v * load(cosine + j) + partner * load(sine + j);
      store(y + h + j, add ? load(y + h + j) + rotated : rotated);
    }
}

// The general case, pair by pair; a pair is channels m * step and m * step + gap.
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
  const bool in_lanes = lanes % head_dim == 0;
  const bool whole = head_dim % lanes == 0 && (interleaved || half % lanes == 0);
  const real sign = back ? -1 : 1;
  const int sharing = table_batch == 1 ? batch : 1;              // number of rows of x that one row of the table serves
  const int laid_out = in_lanes ? lanes : whole ? head_dim : 0;  // cosines of one slot in the table; as many sines
  // A thread takes at least 8192 numbers at a time, and at least 8 slots where heads are whole vectors.
  const int64_t work = int64_t(n) * sharing, enough = work < 8192 ? 8192 / work : 1;
  const int64_t several = whole && enough < 8 ? 8 : enough;
  parallel_ranges(int64_t(table_batch) * time, several, [&](int64_t from, int64_t to) {
    real* table = scratch(0, (to - from) * 2 * laid_out);
    for (int64_t t = from; t < to; ++t)
      for (int k = 0; k < laid_out; ++k) {
        const int channel = k % head_dim, pair = interleaved ? channel / 2 : channel % half;
        const bool second = interleaved ? channel % 2 : channel >= half;
        real* at = table + (t - from) * 2 * laid_out + k;
        at[0] = cosine[t * half + pair], at[laid_out] = (second ? sign : -sign) * sine[t * half + pair];
      }
    for (int64_t first = 0; first < int64_t(sharing) * time; first += time)
      for (int64_t t = from; t < to; ++t) {
        const real *in = x + (first + t) * n, *cs = table + (t - from) * 2 * laid_out, *sn = cs + laid_out;
        real* out = y.at + (first + t) * n;
        if (whole) rotate_heads(out, !y.empty, in, cs, sn, n, head_dim, interleaved);
        else if (!in_lanes)
          for (int h = 0; h < n; h += head_dim)
            rotate_pairs(out + h, !y.empty, in + h, cosine + t * half, sine + t * half, half, interleaved ? 2 : 1, flip,
                         sign);
        else if (flip == 1) rotate_lanes<1>(out, !y.empty, in, load(cs), load(sn), n);
        else if (flip == 2) rotate_lanes<2>(out, !y.empty, in, load(cs), load(sn), n);
        else if (flip == 4) rotate_lanes<4>(out, !y.empty, in, load(cs), load(sn), n);
        else rotate_lanes<8>(out, !y.empty, in, load(cs), load(sn), n);
      }
  });
}

}  // namespace poslab::POSLAB_ISA
