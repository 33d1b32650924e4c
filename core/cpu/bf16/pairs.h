// Factors of products as pairs of bf16, with sums in fp32, as --matmul bf16 multiplies them (core/rounding.h).
//
//   sum = (sum + a_1 b_1) + a_0 b_0,  each + rounded once                    a, b: two neighbours along the inner index
//
// This is the instruction vdpbf16ps of AVX512-BF16: 32 products where an FMA of fp32 has 16. The pseudo-code in Intel's
// manual (volume 2) adds the odd element's product first, and treats subnormal factors and sums as zero. Other
// processors emulate it by two FMAs with subnormal numbers as zero, which gives the same bits. A processor without FMA
// rounds twice, and outside x86 subnormal sums stay, so that a sum below 1e-30 may differ there. Factors packed for
// FMAs keep each rounded number in 32 bits, so that a product costs as much as in fp32.
#pragma once
#include "core/cpu/gemm.h"
#include "core/cpu/no_subnormals.h"

#ifndef POSLAB_DOUBLE
namespace poslab::POSLAB_ISA {

// W pairs, one in each 32 bits: element 0 in the lower half.
template <int W>
struct WideBits {
  typedef uint32_t type __attribute__((vector_size(W * sizeof(uint32_t))));
  typedef uint32_t unaligned __attribute__((vector_size(W * sizeof(uint32_t)), aligned(4), may_alias));
};
template <>
struct WideBits<1> {
  typedef uint32_t type;
  typedef uint32_t unaligned __attribute__((may_alias));
};
template <int W>
using Bits = typename WideBits<W>::type;
template <int W>
inline Bits<W> load_bits(const real* p) {
  return *reinterpret_cast<const typename WideBits<W>::unaligned*>(p);
}
template <int W>
inline void store_bits(real* p, Bits<W> x) {
  *reinterpret_cast<typename WideBits<W>::unaligned*>(p) = x;
}

// fp32 -> bf16 in the upper half of its 32 bits, ties to even; subnormal numbers become 0 of their sign, and a NaN
// stays one.
template <int W>
inline Bits<W> to_bf16(Bits<W> x) {
  const Bits<W> rounded = (x + 0x7FFFu + (x >> 16 & 1u)) & 0xFFFF0000u, quiet = (x | 0x00400000u) & 0xFFFF0000u;
  const VecOf<W> number = __builtin_bit_cast(VecOf<W>, x);
  return number != number ? quiet : (x & 0x7F800000u) == 0u ? x & 0x80000000u : rounded;
}
template <int W>
inline Bits<W> pair_of(Bits<W> x0, Bits<W> x1) {
  return to_bf16<W>(x0) >> 16 | to_bf16<W>(x1);
}

// to_bf16 of a result of arithmetic under NoSubnormals: it is not subnormal, and a NaN is already quiet.
template <int W>
inline VecOf<W> to_bf16_from_sum(VecOf<W> sum) {
  const auto x = __builtin_bit_cast(Bits<W>, sum);
#if defined __SSE2__
  return sum != sum ? sum : __builtin_bit_cast(VecOf<W>, (x + 0x7FFFu + (x >> 16 & 1u)) & 0xFFFF0000u);
#else
  return __builtin_bit_cast(VecOf<W>, to_bf16<W>(x));
#endif
}
// to_bf16 of numbers in memory: a multiplication by a 1 unknown to the compiler makes them results of arithmetic.
template <int W>
inline VecOf<W> load_bf16(const real* p) {
  real one = 1;
#if defined __SSE2__
  __asm__("" : "+x"(one));
#endif
  return to_bf16_from_sum<W>(load<W>(p) * one);
}

#if defined __AVX512BF16__
// pair_neighbours() pairs neighbours in the row of 2 W numbers x0, x1; pair() pairs x0_i with x1_i.
template <int W>
inline Bits<W> pair_neighbours(Bits<W> x0, Bits<W> x1) {
  if constexpr (W == 16) return (Bits<W>)_mm512_cvtne2ps_pbh((__m512)x1, (__m512)x0);
  if constexpr (W == 8) return (Bits<W>)_mm256_cvtne2ps_pbh((__m256)x1, (__m256)x0);
  if constexpr (W == 4) return (Bits<W>)_mm_cvtne2ps_pbh((__m128)x1, (__m128)x0);
}
template <int W, int... i>
inline Bits<W> interleaved(Bits<W> halves, std::integer_sequence<int, i...>) {  // 0 W 1 W+1 ...
  typedef uint16_t Halves __attribute__((vector_size(W * 4)));
  return (Bits<W>)__builtin_shufflevector((Halves)halves, (Halves)halves, (i / 2 + i % 2 * W)...);
}
template <int W>
inline Bits<W> pair(Bits<W> x0, Bits<W> x1) {
  if constexpr (W == 1)
    return pair_of<1>(x0, x1);
  else
    return interleaved<W>(pair_neighbours<W>(x0, x1), std::make_integer_sequence<int, 2 * W>());
}

struct InstructionPairs {
  struct Sums {};
  static constexpr int rows = 1;  // of pairs
  template <int W>
  using Factor = Bits<W>;
  template <int W>
  static Bits<W> of(Bits<W> pairs) {
    return pairs;
  }
  template <int W>
  static Bits<W> of(const real* x0, const real* x1) {
    return pair<W>(load_bits<W>(x0), load_bits<W>(x1));
  }
  // Stores two vectors of rounded() numbers as pairs. Here pair() rounds, and rounded() does nothing.
  template <int W>
  static void put(Bits<W>* to, VecOf<W> x0, VecOf<W> x1) {
    *to = pair<W>(__builtin_bit_cast(Bits<W>, x0), __builtin_bit_cast(Bits<W>, x1));
  }
  template <int W>
  static VecOf<W> rounded(VecOf<W> x) {
    return x;
  }
  template <int W>
  static VecOf<W> rounded_weight(VecOf<W> x) {
    return x;
  }
  template <int W>
  static Bits<W> left(const real* a) {
    return load_bits<1>(a) - Bits<W>{};
  }
  template <int W>
  static Bits<W> right(const real* b, ptrdiff_t) {
    return load_bits<W>(b);
  }
  template <int W>
  static VecOf<W> add_product(VecOf<W> sum, Bits<W> a, Bits<W> b) {
    if constexpr (W == 16) return (VecOf<W>)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
    if constexpr (W == 8) return (VecOf<W>)_mm256_dpbf16_ps((__m256)sum, (__m256bh)a, (__m256bh)b);
    if constexpr (W == 4) return (VecOf<W>)_mm_dpbf16_ps((__m128)sum, (__m128bh)a, (__m128bh)b);
    if constexpr (W == 1)
      return _mm_dpbf16_ps(_mm_set_ss(sum), (__m128bh)_mm_cvtsi32_si128(int(a)),
                           (__m128bh)_mm_cvtsi32_si128(int(b)))[0];
  }
};
using Pairs = InstructionPairs;
using Packed = InstructionPairs;          // how factors are packed
inline constexpr int reals_per_pair = 1;  // for packed factors; one instruction multiplies both numbers
#else
template <int W>
inline Bits<W> pair(Bits<W> x0, Bits<W> x1) {
  return pair_of<W>(x0, x1);
}
template <int W, int... i>
inline Bits<W> pair_neighbours(Bits<W> x0, Bits<W> x1, std::integer_sequence<int, i...>) {
  return pair<W>(__builtin_shufflevector(x0, x1, (2 * i)...), __builtin_shufflevector(x0, x1, (2 * i + 1)...));
}
template <int W>
inline Bits<W> pair_neighbours(Bits<W> x0, Bits<W> x1) {
  return pair_neighbours<W>(x0, x1, std::make_integer_sequence<int, W>());
}

struct EmulatedPairs {
  using Sums = NoSubnormals;
  static constexpr int rows = 1;  // of pairs
  template <int W>
  struct Factor {
    VecOf<W> x0, x1;
  };
  template <int W>
  static Factor<W> of(Bits<W> pairs) {
    return {__builtin_bit_cast(VecOf<W>, pairs << 16), __builtin_bit_cast(VecOf<W>, pairs & 0xFFFF0000u)};
  }
  template <int W>
  static Factor<W> of(const real* x0, const real* x1) {
    return {load_bf16<W>(x0), load_bf16<W>(x1)};
  }
  template <int W>
  static Factor<W> left(const real* a) {  // a split pair, its second number first
    return {splat<W>(a[1]), splat<W>(a[0])};
  }
  template <int W>
  static Factor<W> right(const real* b, ptrdiff_t) {
    return of<W>(load_bits<W>(b));
  }
  template <int W>
  static VecOf<W> add_product(VecOf<W> sum, Factor<W> a, Factor<W> b) {
    const VecOf<W> first = multiply_add(a.x1, b.x1, sum);
    return multiply_add(a.x0, b.x0, first);
  }
};
using Pairs = EmulatedPairs;

// Pairs that were split when they were packed: rounded numbers, the second of each pair first. FMAs give the same sums,
// and no tile has to split a pair again.
struct Split : Reals {
  using Sums = NoSubnormals;
  template <int W>
  using Factor = VecOf<W>;
  template <int W>
  static void put(VecOf<W>* to, VecOf<W> x0, VecOf<W> x1) {
    to[0] = x0, to[1] = x1;
  }
  template <int W>
  static VecOf<W> rounded(VecOf<W> x) {
    return to_bf16_from_sum<W>(x);
  }
  // to_bf16 of a weight of attention, in fewer operations: if 2^e <= x < 2^(e+1), the sum of x and 1.5 2^(e+16) has
  // room for 8 bits of x. NaN stays. Numbers from 2^111 on become NaN; a weight is that large only if another is NaN.
  template <int W>
  static VecOf<W> rounded_weight(VecOf<W> x) {
    const VecOf<W> power = __builtin_bit_cast(VecOf<W>, __builtin_bit_cast(Bits<W>, x) & 0x7F800000u);
    return multiply_add(power, 98304.f, x) - power * 98304.f;
  }
};
using Packed = Split;                     // how factors are packed
inline constexpr int reals_per_pair = 2;  // for packed factors; an FMA multiplies each number
#endif

// Pairs of a factor b that is not packed, made from two of its rows at each read. With few rows of a this costs less
// than packing, which writes b and reads it once more.
struct PairsOfRows : Pairs {
  static constexpr int rows = 2;
  template <int W>
  static auto right(const real* b, ptrdiff_t b_row) {
    return of<W>(b, b + b_row);
  }
};

// Two rows of n numbers, one below the other -> n pairs; a null x1 is a row of zeros.
inline void pair_lines(int n, const real* x0, const real* x1, real* to) {
  int j = 0;
  const auto columns = [&]<int W>() {
    for (; j + W <= n; j += W)
      store_bits<W>(to + j, pair<W>(load_bits<W>(x0 + j), x1 ? load_bits<W>(x1 + j) : Bits<W>{}));
  };
  columns.template operator()<lanes>();
  if constexpr (lanes == 16) columns.template operator()<8>();
  columns.template operator()<1>();
}

// Pairs of rows: to_pj = (x_2p,j , x_2p+1,j)                                 x: (k, n)   to: (ceil(k / 2), n)
inline void pair_rows(int k, int n, const real* x, ptrdiff_t x_row, real* to, ptrdiff_t to_row) {
  for (int p = 0; p < k; p += 2, x += 2 * x_row, to += to_row) pair_lines(n, x, p + 1 < k ? x + x_row : nullptr, to);
}

// Pairs along rows: to_ip = (x_i,2p , x_i,2p+1)                              x: (m, k)   to: (m, ceil(k / 2))
inline void pair_columns(int m, int k, const real* x, ptrdiff_t x_row, real* to) {
  for (int i = 0; i < m; ++i, x += x_row, to += (k + 1) / 2) {
    int p = 0;
    const auto columns = [&]<int W>() {
      for (; p + 2 * W <= k; p += 2 * W)
        store_bits<W>(to + p / 2, pair_neighbours<W>(load_bits<W>(x + p), load_bits<W>(x + p + W)));
    };
    columns.template operator()<lanes>();
    if constexpr (lanes == 16) columns.template operator()<8>();
    if constexpr (lanes >= 8) columns.template operator()<4>();
    for (; p < k; p += 2)
      store_bits<1>(to + p / 2, pair_of<1>(load_bits<1>(x + p), p + 1 < k ? load_bits<1>(x + p + 1) : 0));
  }
}

// Rounds a line of n numbers.
inline void round_line(int n, const real* x, real* to) {
  int j = 0;
  const auto columns = [&]<int W>() {
    for (; j + W <= n; j += W) store<W>(to + j, load_bf16<W>(x + j));
  };
  columns.template operator()<lanes>();
  if constexpr (lanes == 16) columns.template operator()<8>();
  columns.template operator()<1>();
}

// Pairs of rows, split: to_p = x_{p ^ 1}                                     x: (k, n)   to: (k or k + 1, n)
inline void split_rows(int k, int n, const real* x, ptrdiff_t x_row, real* to, ptrdiff_t to_row) {
  const NoSubnormals none;
  for (int p = 0; p < k + k % 2; ++p, to += to_row) {
    if ((p ^ 1) < k)
      round_line(n, x + (p ^ 1) * x_row, to);
    else
      __builtin_memset(to, 0, size_t(n) * sizeof(real));
  }
}

// Pairs along rows, split: to_ip = x_{i, p ^ 1}                              x: (m, k)   to: (m, k or k + 1)
template <int W, int... i>
inline VecOf<W> exchanged(VecOf<W> x, std::integer_sequence<int, i...>) {  // exchanges neighbours
  return __builtin_shufflevector(x, x, (i ^ 1)...);
}
inline void split_columns(int m, int k, const real* x, ptrdiff_t x_row, real* to) {
  constexpr int W = lanes;
  const NoSubnormals none;
  for (int i = 0; i < m; ++i, x += x_row, to += k + k % 2) {
    int p = 0;
    for (; p + W <= k; p += W)
      store<W>(to + p, exchanged<W>(load_bf16<W>(x + p), std::make_integer_sequence<int, W>()));
    for (; p < k + k % 2; ++p) to[p] = (p ^ 1) < k ? load_bf16<1>(x + (p ^ 1)) : 0;
  }
}

// split_columns(x^T), for an x of few columns                                x: (k, m)   to: (m, k or k + 1)
[[gnu::noinline]] inline void split_transposed(int k, int m, const real* x, ptrdiff_t x_row, real* to) {
  const NoSubnormals none;
  for (int i = 0; i < m; ++i)
    for (int p = 0; p < k + k % 2; ++p, ++to) *to = (p ^ 1) < k ? load_bf16<1>(x + (p ^ 1) * x_row + i) : 0;
}

// Packs factors as Packed reads them. packed_steps: the packed rows for an inner size k
inline int packed_steps(int k) { return reals_per_pair == 2 ? k + k % 2 : (k + 1) / 2; }
[[gnu::noinline]] inline void pack_rows(int k, int n, const real* x, ptrdiff_t x_row, real* to, ptrdiff_t to_row) {
  reals_per_pair == 2 ? split_rows(k, n, x, x_row, to, to_row) : pair_rows(k, n, x, x_row, to, to_row);
}
[[gnu::noinline]] inline void pack_columns(int m, int k, const real* x, ptrdiff_t x_row, real* to) {
  reals_per_pair == 2 ? split_columns(m, k, x, x_row, to) : pair_columns(m, k, x, x_row, to);
}

}  // namespace poslab::POSLAB_ISA
#endif
