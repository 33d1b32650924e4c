// c = a b with factors rounded as the run asks (core/rounding.h): what linear layers, matmul and feed-forward networks
// are made of. A factor is rounded while it is copied, and gemm.h multiplies the copies in fp32. Attention does not
// come here: it calls gemm.h itself.
#pragma once
#include "core/cpu/gemm.h"
#include "core/memory.h"
#include "core/rounding.h"

namespace poslab::POSLAB_ISA {

// x rounded to 11 bits, ties away from zero, as cvt.rna.tf32.f32 does; to 8 bits, ties to even, as cvt.rn.bf16.f32
// does. Numbers that are too large become infinite; infinity and NaN stay.
inline real to_tf32(real x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, float(x)), exponent = 0x7F800000u;
  return __builtin_bit_cast(float, (bits & exponent) == exponent ? bits : (bits + 0x1000u) & ~0x1FFFu);
}
inline real to_bf16(real x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, float(x)), exponent = 0x7F800000u;
  return __builtin_bit_cast(float,
                            (bits & exponent) == exponent ? bits : (bits + 0x7FFFu + (bits >> 16 & 1)) & ~0xFFFFu);
}

// `lines` lines of n numbers each, rounded.
template <class Round>
inline void copy_rounded(int lines, int n, const real* from, ptrdiff_t from_line, real* to, ptrdiff_t to_line,
                         const Round& round) {
  for (int i = 0; i < lines; ++i)
    for (int j = 0; j < n; ++j) to[i * to_line + j] = round(from[i * from_line + j]);
}

class Multiply {
 public:
  // c = the finished a b, finished as in gemm.h                          a: (m, k)   b: (k, n)   c: (m, n)
  template <class Finish>
  void operator()(int m, int n, int k, Left a, const real* b, ptrdiff_t b_row, real* c, ptrdiff_t c_row,
                  Finish end) const {
    if (how_ == Matmul::fp32) return gemm(m, n, k, a, b, b_row, c, c_row, end);
    const Rounded r = rounded(m, n, k, a, b, b_row);
    gemm(m, n, r.k, r.a, r.b, n, c, c_row, end);
  }
  // c = a b, or c += a b if add
  void operator()(int m, int n, int k, Left a, const real* b, ptrdiff_t b_row, real* c, ptrdiff_t c_row,
                  bool add) const {
    (*this)(m, n, k, a, b, b_row, c, c_row, Into{add});
  }

 private:
  struct Rounded {
    Left a;
    const real* b;
    int k;
  };
  Rounded rounded(int m, int n, int k, Left a, const real* b, ptrdiff_t b_row) const {
    const int parts = how_ == Matmul::tf32x3 ? 3 : 1;         // side by side: one product with three times the places
    real *to_a = scratch(a_buffer, int64_t(parts) * m * k), *to_b = scratch(b_buffer, int64_t(parts) * k * n);
    const bool by_rows = a.column == 1;                       // else by columns: a is transposed
    const Left new_a = by_rows ? Left{to_a, ptrdiff_t(parts) * k, 1} : Left{to_a, 1, m};
    const auto copy = [&](int part, const auto& round_a, const auto& round_b) {
      real* at = to_a + part * k * new_a.column;
      if (by_rows) copy_rounded(m, k, a.at, a.row, at, new_a.row, round_a);
      else copy_rounded(k, m, a.at, a.column, at, new_a.column, round_a);
      copy_rounded(k, n, b, b_row, to_b + int64_t(part) * k * n, n, round_b);
    };
    const auto tf32 = [](real x) { return to_tf32(x); };
    const auto bf16 = [](real x) { return to_bf16(x); };
    const auto rest = [](real x) { return to_tf32(x - to_tf32(x)); };
    if (how_ == Matmul::bf16) copy(0, bf16, bf16);
    else if (how_ == Matmul::tf32) copy(0, tf32, tf32);
    else copy(0, rest, tf32), copy(1, tf32, rest), copy(2, tf32, tf32);
    return {new_a, to_b, parts * k};
  }

  enum Buffer { a_buffer = 14, b_buffer };
  Matmul how_ = cpu_matmul();          // of the thread that calls the kernel, also for the threads that help it
};

}  // namespace poslab::POSLAB_ISA
