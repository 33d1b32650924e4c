// LayerNorm and RMSNorm of rows, of x or of a residual sum s = x + dropout(z). Only s is kept for the backward pass,
// which draws the same dropout factors again (Philox).
#include "core/cpu/philox.h"
#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/platform/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

constexpr int row_block = 32;          // rows of one piece of work
constexpr int max_partial_sums = 16;   // partial sums of dgain and of dbias, for any number of threads
using Rms = std::integral_constant<NormKind, NormKind::rms>;
using Layer = std::integral_constant<NormKind, NormKind::layer>;

// Mean and 1 / std of a row: h = (s - mean) inverse.
template <NormKind kind>
struct Moments {
  real mean = 0, inverse = 0;

  [[gnu::always_inline]] Moments(const real* s, int n, real epsilon) {
    if constexpr (kind == NormKind::rms) {
      inverse = 1 / std::sqrt(dot_row(s, s, n) / real(n) + epsilon);
    } else {
      mean = sum_row(s, n) / real(n);
      Vec squares{};
      for_vectors(n, [&](int j, int count) {
        const Vec off = load_or(s + j, count, mean) - mean;
        squares += off * off;
      });
      inverse = 1 / std::sqrt(sum_lanes(squares) / real(n) + epsilon);
    }
  }
  [[gnu::always_inline]] Vec h(Vec s) const {
    if constexpr (kind == NormKind::rms) return s * inverse;
    else return (s - mean) * inverse;
  }
};

template <NormKind kind>
[[gnu::always_inline]] inline void norm_row(real* y, const real* s, const real* gain, const real* bias, int n,
                                            real epsilon) {
  const Moments<kind> m(s, n, epsilon);
  write_row(y, false, n, [&](int j, int count) {
    const Vec scaled = load_some(gain + j, count) * m.h(load_some(s + j, count));
    if constexpr (kind == NormKind::rms) return scaled;
    else return scaled + load_some(bias + j, count);
  });
}

// d = the gradient of s through the norm, and for rms also ds, unless that is null. Adds this row's dgain and dbias to
// `sums` (2, n). Each kind has its own loops: in a joint loop the compiler would fuse other multiply-adds and so round
// differently.
[[gnu::always_inline]] inline void norm_row_backward(Rms, real* d, real* sums, const real* ds, const real* dy,
                                                     const real* s, const real* gain, int n, real epsilon) {
  const real inverse = Moments<NormKind::rms>(s, n, epsilon).inverse;
  Vec total{};
  for_vectors(n, [&](int j, int count) {
    const Vec dh = load_some(dy + j, count) * (load_some(s + j, count) * inverse);
    total += dh * load_some(gain + j, count);
    store_some(sums + j, load_some(sums + j, count) + dh, count);
  });
  const real mean = sum_lanes(total) / real(n);
  write_row(d, false, n, [&](int j, int count) {
    const Vec h = load_some(s + j, count) * inverse;
    const Vec dj = (load_some(dy + j, count) * load_some(gain + j, count) - h * mean) * inverse;
    return ds ? load_some(ds + j, count) + dj : dj;
  });
}
[[gnu::always_inline]] inline void norm_row_backward(Layer, real* d, real* sums, const real*, const real* dy,
                                                     const real* s, const real* gain, int n, real epsilon) {
  const Moments<NormKind::layer> m(s, n, epsilon);
  Vec g_total{}, gh_total{};
  for_vectors(n, [&](int j, int count) {
    const Vec d_y = load_some(dy + j, count), g = d_y * load_some(gain + j, count);
    const Vec h = m.h(load_some(s + j, count));
    g_total += g, gh_total += g * h;
    store_some(sums + j, load_some(sums + j, count) + d_y * h, count);
    store_some(sums + n + j, load_some(sums + n + j, count) + d_y, count);
  });
  const real g_mean = sum_lanes(g_total) / real(n), gh_mean = sum_lanes(gh_total) / real(n);
  write_row(d, false, n, [&](int j, int count) {
    const Vec h = m.h(load_some(s + j, count));
    return (load_some(dy + j, count) * load_some(gain + j, count) - g_mean - h * gh_mean) * m.inverse;
  });
}

// Calls work(kind, n), with both as constants if possible.
template <class Work>
void with_form(const NormForm& form, const Work& work) {
  with_width(form.n, [&](auto n) {
    form.kind == NormKind::rms ? work(Rms(), n) : work(Layer(), n);
  });
}

// Calls work(from, to, sums) for blocks of rows that start at multiples of row_block; sums: the partial sum (2, n) of
// dgain and dbias that these rows belong to. Then adds the partial sums up in order.
template <class Work>
void sum_by_blocks(Accumulator dgain, Accumulator dbias, int64_t rows, int n, const Work& work) {
  const int64_t blocks = (rows + row_block - 1) / row_block;
  const int64_t count = blocks < max_partial_sums ? blocks : max_partial_sums;
  real* partial = scratch(0, count * 2 * n);
  parallel_for(count, [&](int64_t s) {
    real* sums = partial + s * 2 * n;
    for (int e = 0; e < 2 * n; ++e) sums[e] = 0;
    for (int64_t t = blocks * s / count; t < blocks * (s + 1) / count; ++t)
      work(t * row_block, t + 1 < blocks ? (t + 1) * row_block : rows, sums);
  });
  const auto add_up = [&](Accumulator to, int offset) {
    for (int64_t s = 0; to && s < count; ++s)
      write_row(to.at, !(to.empty && s == 0), n,
                [&](int j, int count) { return load_some(partial + s * 2 * n + offset + j, count); });
  };
  add_up(dgain, 0);
  add_up(dbias, n);
}

// The norm of x itself, and of a sum.
void norm_of(real* y, const real* x, const real* gain, const real* bias, const NormForm& form) {
  with_form(form, [&](auto kind, auto n) {
    parallel_ranges(form.rows, row_block, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) norm_row<kind()>(y + i * n, x + i * n, gain, bias, n, form.epsilon);
    });
  });
}
void norm_of_sum(real* y, real* s, const real* x, const real* z, const real* gain, const real* bias,
                 const NormForm& form) {
  with_form(form, [&](auto kind, auto n) {
    parallel_ranges(form.rows, row_block, [&](int64_t from, int64_t to) {
      // A row with a partial last vector would wait for its store (softmax_row). RMSNorm has two loops to keep its
      // bits: in a single loop the compiler fuses other multiply-adds.
      const bool at_once = kind() == NormKind::layer && n % lanes == 0;
      const real* f = dropout_factors(from, to, n, form.dropout);
      for (int64_t i = from; i < to; ++i) {
        const real* fi = f ? f + (i - from) * n : nullptr;
        write_row(s + i * n, false, n, [&](int j, int count) {
          const Vec zj = load_some(z + i * n + j, count);
          return load_some(x + i * n + j, count) + (fi ? zj * load_some(fi + j, count) : zj);
        });
        if (at_once) norm_row<kind()>(y + i * n, s + i * n, gain, bias, n, form.epsilon);
      }
      if (at_once) return;
      for (int64_t i = from; i < to; ++i) norm_row<kind()>(y + i * n, s + i * n, gain, bias, n, form.epsilon);
    });
  });
}

}  // namespace

void norm(real* y, real* s, const real* x, const real* z, const real* gain, const real* bias, const NormForm& form) {
  z ? norm_of_sum(y, s, x, z, gain, bias, form) : norm_of(y, x, gain, bias, form);
}

void norm_backward(Accumulator dx, Accumulator dz, Accumulator dgain, Accumulator dbias, const real* ds,
                   const real* dy, const real* s, const real* gain, const NormForm& form) {
  with_form(form, [&](auto kind, auto n) {
    sum_by_blocks(dgain, dbias, form.rows, n, [&](int64_t from, int64_t to, real* sums) {
      real* own = scratch(1, n);
      const real* f = dz ? dropout_factors(from, to, n, form.dropout) : nullptr;
      for (int64_t i = from; i < to; ++i) {
        const real* d = ds ? ds + i * n : nullptr;
        if (dy) norm_row_backward(kind, own, sums, d, dy + i * n, s + i * n, gain, n, form.epsilon), d = own;
        if (!d) __builtin_unreachable();      // the caller gives ds, dy or both
        if (dx) write_row(dx.at + i * n, !dx.empty, n, [&](int j, int count) { return load_some(d + j, count); });
        if (!dz) continue;
        const real* fi = f ? f + (i - from) * n : nullptr;
        write_row(dz.at + i * n, !dz.empty, n, [&](int j, int count) {
          const Vec dj = load_some(d + j, count);
          return fi ? dj * load_some(fi + j, count) : dj;
        });
      }
    });
  });
}

}  // namespace poslab::POSLAB_ISA
