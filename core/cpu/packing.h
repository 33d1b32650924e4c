// How pairs of bf16 lie along a sum's index: `unit` of them at a time, the last unit filled up with zeros, as tiles
// take them (core/tiles.h). For bf16x3 a number is three of bf16, x = x1 + x2 + x3, each what rounding the ones before
// left over. Each unit comes six times, so that one product adds up six, those of at least 2^-16 of the first:
//
//   a: a3 a2 a1 a2 a1 a1      b: b1 b2 b3 b1 b2 b1      a b = a3 b1 + a2 b2 + a1 b3 + a2 b1 + a1 b2 + a1 b1
#pragma once
#include <array>

#include "core/cpu/pairs.h"
#include "core/cpu/transpose.h"

namespace poslab::POSLAB_ISA {

enum class Side { left, right };

struct Packing {
  int unit = 1, parts = 1;  // parts: or 6, then of units of 16
  bool apart = false;       // each of a pair is a number of its own, the second one first (pairs.h)

  // Pairs that k numbers become, or, apart, numbers.
  int steps(int k) const { return apart ? k + k % 2 : (k + 2 * unit - 1) / (2 * unit) * unit * parts; }

#ifndef POSLAB_DOUBLE
  // How many roundings come before that of this part.
  int before(Side side, int part) const {
    constexpr int left[] = {2, 1, 0, 1, 0, 0}, right[] = {0, 1, 2, 0, 1, 0};
    return parts == 1 ? 0 : side == Side::left ? left[part] : right[part];
  }

  // Pairs of rows                                                                      x: (k, n)   to: (steps(k), n)
  void rows(Side side, int k, int n, const real* x, ptrdiff_t x_row, real* to, ptrdiff_t to_row) const {
    if (apart) return apart_rows(k, n, x, x_row, to, to_row);
    if (unit == 1) return pair_rows(k, n, x, x_row, to, to_row);
    for (int first = 0; first < k; first += 2 * unit)
      for (int part = 0; part < parts; ++part)
        for (int p = first; p < first + 2 * unit; p += 2, to += to_row) line(before(side, part), p, k, n, x, x_row, to);
  }
  // Pairs along rows                                                                   x: (m, k)   to: (m, steps(k))
  void columns(Side side, int m, int k, const real* x, ptrdiff_t x_row, real* to) const {
    if (apart) return apart_columns(m, k, x, x_row, to);
    if (unit == 1) return pair_columns(m, k, x, x_row, to);
    const int length = parts == 1 ? 2 * steps(k) : 2 * unit;
    for (int i = 0; i < m; ++i, x += x_row)
      for (int first = 0; first < k; first += length)
        for (int part = 0; part < parts; ++part, to += length / 2) {
          const int n = k - first < length ? k - first : length, pairs = (n + 1) / 2;
          const auto by = std::array{pair_columns<0>, pair_columns<1>, pair_columns<2>}[size_t(before(side, part))];
          by(1, n, x + first, 0, to);
          __builtin_memset(to + pairs, 0, size_t(length / 2 - pairs) * sizeof(real));
        }
  }
  // The same of x^T: 16 rows of pairs and 64 columns at a time stay in the cache        x: (k, m)   to: (m, steps(k))
  void transposed(Side side, int k, int m, const real* x, ptrdiff_t x_row, real* to) const {
    if (apart) return apart_transposed(k, m, x, x_row, to);
    constexpr int wide = 64, most = 16;
    real block[most * wide];
    const int all = steps(k), together = parts == 1 ? most : unit;
    for (int i = 0; i < m; i += wide) {
      const int n = m - i < wide ? m - i : wide;
      for (int at = 0, first = 0; at < all; first += 2 * together)
        for (int part = 0; part < parts; ++part) {
          const int count = all - at < together ? all - at : together;
          for (int q = 0; q < count; ++q) line(before(side, part), first + 2 * q, k, n, x + i, x_row, block + q * wide);
          transpose(count, n, block, wide, to + int64_t(i) * all + at, all);
          at += count;
        }
    }
  }

 private:
  // Rows p and p + 1 of k as a row of pairs
  static void line(int before, int p, int k, int n, const real* x, ptrdiff_t x_row, real* to) {
    if (p >= k) {
      __builtin_memset(to, 0, size_t(n) * sizeof(real));
      return;
    }
    const real *x0 = x + p * x_row, *x1 = p + 1 < k ? x0 + x_row : nullptr;
    std::array{pair_lines<0>, pair_lines<1>, pair_lines<2>}[size_t(before)](n, x0, x1, to);
  }
#endif
};

}  // namespace poslab::POSLAB_ISA
