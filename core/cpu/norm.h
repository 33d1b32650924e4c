// LayerNorm of one row of n reals, forward and backward: shared by norm.cpp and residual_norm.cpp.
#pragma once
#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/parallel.h"

namespace poslab::POSLAB_ISA {

constexpr real norm_epsilon = real(1e-5);   // Haiku's and PyTorch's default
constexpr int norm_row_block = 32;          // rows of one piece of work
constexpr int max_norm_partial_sums = 16;   // of dgain and dbias, whatever the number of threads

struct Moments { real mean, inverse; };     // mean and 1 / sqrt(variance + epsilon)

[[gnu::always_inline]] inline Moments moments(const real* x, int n) {
  const real mean = sum_row(x, n) / real(n);
  Vec s{};
  for_vectors(n, [&](int j, int count) {
    const Vec off = load_or(x + j, count, mean) - mean;
    s += off * off;
  });
  return {mean, 1 / std::sqrt(sum_lanes(s) / real(n) + norm_epsilon)};
}

// y = gain (x - mean) / std + bias
[[gnu::always_inline]] inline void norm_row(real* y, const real* x, const real* gain, const real* bias, int n) {
  const Moments m = moments(x, n);
  write_row(y, false, n, [&](int j, int count) {
    return load_some(gain + j, count) * ((load_some(x + j, count) - m.mean) * m.inverse) + load_some(bias + j, count);
  });
}

// With h = (x - mean) / std and g = dy gain: dx = (g - mean(g) - h mean(g h)) / std, which overwrites `dx`. This row's
// dgain and dbias are added to `sums` (2, n).
[[gnu::always_inline]] inline void norm_row_backward(real* dx, real* sums, const real* dy, const real* x,
                                                     const real* gain, int n) {
  const Moments m = moments(x, n);
  Vec g_total{}, gh_total{};
  for_vectors(n, [&](int j, int count) {
    const Vec d = load_some(dy + j, count), g = d * load_some(gain + j, count);
    const Vec h = (load_some(x + j, count) - m.mean) * m.inverse;
    g_total += g, gh_total += g * h;
    store_some(sums + j, load_some(sums + j, count) + d * h, count);
    store_some(sums + n + j, load_some(sums + n + j, count) + d, count);
  });
  const real g_mean = sum_lanes(g_total) / real(n), gh_mean = sum_lanes(gh_total) / real(n);
  write_row(dx, false, n, [&](int j, int count) {
    const Vec h = (load_some(x + j, count) - m.mean) * m.inverse;
    return (load_some(dy + j, count) * load_some(gain + j, count) - g_mean - h * gh_mean) * m.inverse;
  });
}

// Calls work(from, to, sums) for blocks of rows that start at multiples of norm_row_block; sums: the partial sum (2, n)
// of dgain and dbias that these rows belong to. Then adds the partial sums up in order.
template <class Work>
void norm_backward_rows(Accumulator dgain, Accumulator dbias, int64_t rows, int n, const Work& work) {
  const int64_t blocks = (rows + norm_row_block - 1) / norm_row_block;
  const int64_t count = blocks < max_norm_partial_sums ? blocks : max_norm_partial_sums;
  real* partial = scratch(0, count * 2 * n);
  parallel_for(count, [&](int64_t s) {
    real* sums = partial + s * 2 * n;
    for (int e = 0; e < 2 * n; ++e) sums[e] = 0;
    for (int64_t t = blocks * s / count; t < blocks * (s + 1) / count; ++t)
      work(t * norm_row_block, t + 1 < blocks ? (t + 1) * norm_row_block : rows, sums);
  });
  const auto add_up = [&](Accumulator to, int offset) {
    for (int64_t s = 0; to && s < count; ++s)
      write_row(to.at, !(to.empty && s == 0), n,
                [&](int j, int count) { return load_some(partial + s * 2 * n + offset + j, count); });
  };
  add_up(dgain, 0);
  add_up(dbias, n);
}

}  // namespace poslab::POSLAB_ISA
