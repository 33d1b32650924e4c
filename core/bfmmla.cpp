// Products of bf16 by ARM's instruction bfmmla (Armv8.6, and 8.2 with BF16). It multiplies two rows of a, four numbers
// long, by two columns of b, and adds to 2 x 2 sums: 16 products. The Arm Architecture Reference Manual (BFMatMulAdd,
// without FEAT_EBF16's extended form) has its order of sums, for two pairs p:
//
//   c_ij = (c_ij + (a_i0,0 b_0j,0 + a_i0,1 b_0j,1)) + (a_i1,0 b_1j,0 + a_i1,1 b_1j,1)
//
// Each addition rounds to odd: what is not exact gets a 1 as its last bit. Subnormal numbers, factors, products and
// sums alike, count as zero, and every NaN becomes the same.
#include <cmath>
#include <cstdint>

#include "core/tiles.h"

#if defined __ARM_FEATURE_BF16_VECTOR_ARITHMETIC && defined __linux__
#include <arm_neon.h>
#include <sys/auxv.h>
#endif

namespace poslab {
namespace {

constexpr int side = 8;  // of a block of sums: 16 registers of 2 x 2

// The instructions' definition, in the form of the registers.
struct EmulatedRegisters {
  struct Factor {
    uint32_t pair[2][2];  // two of two rows of a or two columns of b
  };
  struct Sums {
    float at[2][2];
  };

  static Factor rows(const float* a, ptrdiff_t row) {
    return {{{bits(a[0]), bits(a[1])}, {bits(a[row]), bits(a[row + 1])}}};
  }
  static void columns(const float* b, ptrdiff_t row, Factor* to) {
    for (int j = 0; j < 4; ++j)
      for (int p = 0; p < 2; ++p) to[j / 2].pair[j % 2][p] = bits(b[p * row + j]);
  }
  static Sums dot(Sums c, const Factor& a, const Factor& b) {
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        for (int p = 0; p < 2; ++p) {
          const uint32_t x = a.pair[i][p], y = b.pair[j][p];
          c.at[i][j] = add(c.at[i][j], add(product(x << 16, y << 16), product(x & 0xFFFF0000u, y & 0xFFFF0000u)));
        }
    return c;
  }
  static void store(float* to, ptrdiff_t row, const Sums& c) {
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) to[i * row + j] = c.at[i][j];
  }

 private:
  static uint32_t bits(float x) { return __builtin_bit_cast(uint32_t, x); }
  static float flushed(float x) { return std::abs(x) < 0x1p-126f ? std::copysign(0.f, x) : x; }
  static float product(uint32_t a, uint32_t b) {  // exact in double; in float but for what is too large or too small
    const double x = flushed(__builtin_bit_cast(float, a)), y = flushed(__builtin_bit_cast(float, b));
    return to_odd(x * y, 0);
  }
  static float add(float a, float b) {
    const double sum = double(a) + b, rest = sum - a;
    return to_odd(sum, std::isfinite(sum) ? (a - (sum - rest)) + (b - rest) : 0);  // Knuth's exact error
  }
  // x + e to float, |e| at most half a unit of x's last place: cut off, and if anything was lost, the last bit set.
  static float to_odd(double x, double e) {
    if (std::isnan(x)) return __builtin_bit_cast(float, 0x7FC00000u);
    if (std::isinf(x)) return float(x);
    float y = float(x);
    const bool above =
        std::abs(double(y)) > std::abs(x) || (double(y) == x && e != 0 && std::signbit(e) != std::signbit(x));
    if (above && std::isinf(y) && std::abs(x) >= 0x1p128) return y;
    if (above) y = std::nextafter(y, 0.f);
    if (std::abs(y) < 0x1p-126f) return std::copysign(0.f, y);
    return double(y) == x && e == 0 ? y : __builtin_bit_cast(float, bits(y) | 1u);
  }
};

template <class Registers>
void block(int, int, int steps, const float* a, ptrdiff_t a_row, const float* b, ptrdiff_t b_row, float* sums) {
  constexpr int half = side / 2;
  typename Registers::Sums c[half][half] = {};
  for (int p = 0; p < steps; p += 2, a += 2, b += 2 * b_row) {
    typename Registers::Factor x[half], y[half];
#pragma GCC unroll 4
    for (int i = 0; i < half; ++i) x[i] = Registers::rows(a + 2 * i * a_row, a_row);
    Registers::columns(b, b_row, y), Registers::columns(b + half, b_row, y + 2);
#pragma GCC unroll 4
    for (int i = 0; i < half; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < half; ++j) c[i][j] = Registers::dot(c[i][j], x[i], y[j]);
  }
  for (int i = 0; i < half; ++i)
    for (int j = 0; j < half; ++j) Registers::store(sums + 2 * (i * side + j), side, c[i][j]);
}

void nothing(bool) {}

}  // namespace

const Tiles emulated_bfmmla{"bfmmla, emulated", side, side, 2, nothing, block<EmulatedRegisters>};

#if defined __ARM_FEATURE_BF16_VECTOR_ARITHMETIC && defined __linux__
namespace {

struct NeonRegisters {
  using Factor = bfloat16x8_t;
  using Sums = float32x4_t;
  static Factor rows(const float* a, ptrdiff_t row) {
    return vreinterpretq_bf16_f32(vcombine_f32(vld1_f32(a), vld1_f32(a + row)));
  }
  static void columns(const float* b, ptrdiff_t row, Factor* to) {
    const float32x4_t first = vld1q_f32(b), second = vld1q_f32(b + row);
    to[0] = vreinterpretq_bf16_f32(vzip1q_f32(first, second));
    to[1] = vreinterpretq_bf16_f32(vzip2q_f32(first, second));
  }
  static Sums dot(Sums c, Factor a, Factor b) { return vbfmmlaq_f32(c, a, b); }
  static void store(float* to, ptrdiff_t row, Sums c) {
    vst1_f32(to, vget_low_f32(c)), vst1_f32(to + row, vget_high_f32(c));
  }
};
constexpr Tiles real_bfmmla{"bfmmla", side, side, 2, nothing, block<NeonRegisters>};

}  // namespace

const Tiles* bfmmla() {
  constexpr unsigned long has_bf16 = 1ul << 14;  // HWCAP2_BF16
  static const Tiles* const found = getauxval(AT_HWCAP2) & has_bf16 ? checked(real_bfmmla, emulated_bfmmla) : nullptr;
  return found;
}
#else
const Tiles* bfmmla() { return nullptr; }
#endif

}  // namespace poslab
