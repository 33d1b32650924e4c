// c = a b with factors rounded as cpu_rounding() says (core/rounding.h): linear layers, matmul, feed-forward networks.
// gemm.h multiplies. Factors in bf16 are packed once, beforehand, by left() and right(); for tf32 and tf32x3 they are
// copied and rounded in each product. Attention calls gemm.h itself.
#pragma once
#include "core/cpu/bf16/pairs.h"
#include "core/cpu/transpose.h"
#include "core/memory.h"
#include "core/rounding.h"

namespace poslab::POSLAB_ISA {

// x rounded to 11 bits, ties away from zero, as cvt.rna.tf32.f32 does. Numbers that are too large become infinite;
// infinity and NaN do not change.
inline real to_tf32(real x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, float(x)), exponent = 0x7F800000u;
  return __builtin_bit_cast(float, (bits & exponent) == exponent ? bits : (bits + 0x1000u) & ~0x1FFFu);
}

// Copies and rounds `lines` lines of n numbers each.
template <class Round>
[[gnu::noinline]] inline void copy_rounded(int lines, int n, const real* from, ptrdiff_t from_line, real* to,
                                           ptrdiff_t to_line, const Round& round) {
  for (int i = 0; i < lines; ++i)
    for (int j = 0; j < n; ++j) to[i * to_line + j] = round(from[i * from_line + j]);
}

struct Right {          // the factor b: b_pj = at[p row + j]
  const real* at = nullptr;
  ptrdiff_t row = 0;
  bool packed = false;  // by Multiply: a row then holds two rows of b as pairs, or one rounded row
};

// With fewer rows of a than this, copying b would take as long as the product.
constexpr int few_rows = 8;

// The product within one call of a kernel: multiply(m, n, k, a, b, ...).
class Multiply {
 public:
  // packs(): whether left() and right() pack.   steps(k): rows of b after packing k of them.   from_column, from_row:
  // a and b from index p on, a multiple of 64.   reads_in_place: right() returns b itself for this many rows of a.
  bool packs() const { return pairs_; }
  int steps(int k) const {
#ifndef POSLAB_DOUBLE
    if (pairs_) return packed_steps(k);
#endif
    return k;
  }
  Left from_column(Left a, int p) const { return {a.at + steps(p) * a.column, a.row, a.column}; }
  Right from_row(Right b, int p) const { return {b.at + (b.packed ? steps(p) : p) * b.row, b.row, b.packed}; }
  bool reads_in_place(int64_t rows, int k) const {
    return !pairs_ || (rows < few_rows && k % 2 == 0);
  }

  // A factor as operator() reads it: itself, or packed into this scratch buffer.                  a: (m, k)   b: (k, n)
  Left left([[maybe_unused]] int buffer, [[maybe_unused]] int m, [[maybe_unused]] int k, Left a) const {
#ifndef POSLAB_DOUBLE
    if (pairs_) {
      const int row = steps(k);
      real* to = scratch(buffer, int64_t(m) * row);
      if (a.column == 1) {
        pack_columns(m, k, a.at, a.row, to);
      } else if (reals_per_pair == 2 && m < few_rows) {  // so few rows are loaded one by one
        split_transposed(k, m, a.at, a.column, to);
      } else {
        pack_rows(k, m, a.at, a.column, to, m);
        return {to, 1, m};
      }
      return {to, row, 1};
    }
#endif
    return a;
  }
  // rows: the number of rows of a
  Right right(int buffer, int64_t rows, int k, int n, const real* b, ptrdiff_t b_row) const {
    if (reads_in_place(rows, k)) return {b, b_row};
    real* to = scratch(buffer, int64_t(steps(k)) * n);
    copy(k, n, b, b_row, to, n);
    return {to, n, true};
  }
  // w^T as the factor b, in `buffer`; other: a buffer for an intermediate copy                               w: (n, k)
  Right transposed(int buffer, int other, int n, int k, const real* w) const {
    return transposed(buffer, other, n, k, w, k);
  }
  [[gnu::noinline]] Right transposed(int buffer, [[maybe_unused]] int other, int n, int k, const real* w,
                                     ptrdiff_t w_row) const {
    real* to = scratch(buffer, int64_t(n) * steps(k));
#ifndef POSLAB_DOUBLE
    if (pairs_) {
      real* along_rows = scratch(other, int64_t(n) * steps(k));
      pack_columns(n, k, w, w_row, along_rows);
      transpose(n, steps(k), along_rows, steps(k), to, n);
      return {to, n, true};
    }
#endif
    transpose(n, k, w, w_row, to, n);
    return {to, n};
  }
  // Copies b, or some of its columns, as operator() reads it: steps(k) rows
  void copy(int k, int n, const real* b, ptrdiff_t b_row, real* to, ptrdiff_t to_row) const {
#ifndef POSLAB_DOUBLE
    if (pairs_) return pack_rows(k, n, b, b_row, to, to_row);
#endif
    for (int p = 0; p < k; ++p) __builtin_memcpy(to + p * to_row, b + p * b_row, size_t(n) * sizeof(real));
  }

  // c = finish(a b) (gemm.h); a and b are results of left() and right()              a: (m, k)   b: (k, n)   c: (m, n)
  void operator()(int m, int n, int k, Left a, Right b, real* c, ptrdiff_t c_row, const Finish& finish) const {
    if (rounding_ == Rounding::fp32) return gemm(m, n, k, a, b.at, b.row, c, c_row, finish);
#ifndef POSLAB_DOUBLE
    if (pairs_ && !b.packed) return multiply_in_place(m, n, k, a, b, c, c_row, finish);
    if (pairs_) return gemm<Packed>(m, n, steps(k), a, b.at, b.row, c, c_row, finish);
#endif
    const Rounded r = rounded(m, n, k, a, b);
    gemm(m, n, r.k, r.a, r.b, n, c, c_row, finish);
  }
  // The same for factors a and b that have not been through left() and right().
  void operator()(int m, int n, int k, Left a, const real* b, ptrdiff_t b_row, real* c, ptrdiff_t c_row,
                  const Finish& finish) const {
    (*this)(m, n, k, left(a_buffer, m, k, a), right(b_buffer, m, k, n, b, b_row), c, c_row, finish);
  }

 private:
#ifndef POSLAB_DOUBLE
  // The product for few rows of a, and an unpacked b with an even number of rows.
  void multiply_in_place(int m, int n, int k, Left a, Right b, real* c, ptrdiff_t c_row, const Finish& finish) const {
    a.column *= reals_per_pair;
    gemm<PairsOfRows>(m, n, k / 2, a, b.at, b.row, c, c_row, finish);
  }
#endif

  struct Rounded {
    Left a;
    const real* b;
    int k;
  };
  Rounded rounded(int m, int n, int k, Left a, Right b) const {
    const int parts = rounding_ == Rounding::tf32x3 ? 3 : 1;   // one product of three times the inner size
    real *to_a = scratch(a_buffer, int64_t(parts) * m * k), *to_b = scratch(b_buffer, int64_t(parts) * k * n);
    const bool by_rows = a.column == 1;                       // else by columns: a is transposed
    const Left new_a = by_rows ? Left{to_a, ptrdiff_t(parts) * k, 1} : Left{to_a, 1, m};
    const auto copy = [&](int part, const auto& round_a, const auto& round_b) {
      real* at = to_a + part * k * new_a.column;
      if (by_rows) copy_rounded(m, k, a.at, a.row, at, new_a.row, round_a);
      else copy_rounded(k, m, a.at, a.column, at, new_a.column, round_a);
      copy_rounded(k, n, b.at, b.row, to_b + int64_t(part) * k * n, n, round_b);
    };
    const auto tf32 = [](real x) { return to_tf32(x); };
    const auto rest = [](real x) { return to_tf32(x - to_tf32(x)); };
    if (rounding_ == Rounding::tf32)
      copy(0, tf32, tf32);
    else copy(0, rest, tf32), copy(1, tf32, rest), copy(2, tf32, tf32);
    return {new_a, to_b, parts * k};
  }

  enum Buffer { a_buffer = 14, b_buffer };
  Rounding rounding_ = cpu_rounding();  // of the calling thread; threads that help it use the same
  bool pairs_ = rounding_ == Rounding::bf16;
};

// Scratch buffers for packed factors: the first for a factor that all threads read, the others for a block of rows.
enum PairBuffer { shared_pairs = 8, block_pairs1, block_pairs2, block_pairs3, block_pairs4, block_pairs5 };

}  // namespace poslab::POSLAB_ISA
