// Products of bf16 by AMX (Intel, since Sapphire Rapids). A tile register holds 16 rows of 64 bytes: 16 x 16 sums, or
// 16 rows of 16 pairs. One instruction multiplies two tiles of pairs, 8192 products. Intel's manual (volume 2,
// TDPBF16PS) has its order of sums, for each row i and column j:
//
//   even = sum_p a_ip,0 b_pj,0   odd = sum_p a_ip,1 b_pj,1   c_ij = c_ij + (even + odd)        p = 0 .. 15 in order
//
// Each addition rounds once, to the nearest; subnormal numbers, factors and sums alike, count as zero.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/tiles.h"

namespace poslab {
namespace {

constexpr int side = 16;  // rows of a tile, and numbers or pairs in a row

// The instructions' definition.
class EmulatedTiles {
 public:
  template <int t>
  void zero() {
    std::memset(tile_[t], 0, sizeof tile_[t]);
  }
  template <int t>
  void load(const float* from, ptrdiff_t row) {
    for (int i = 0; i < side; ++i) std::memcpy(tile_[t] + i * side, from + i * row, side * sizeof(float));
  }
  template <int t>
  void store(float* to, ptrdiff_t row) const {
    for (int i = 0; i < side; ++i) std::memcpy(to + i * row, tile_[t] + i * side, side * sizeof(float));
  }
  template <int c, int a, int b>
  void dot() {
    for (int i = 0; i < side; ++i) {
      float even[side] = {}, odd[side] = {};
      for (int p = 0; p < side; ++p) {
        const uint32_t left = tile_[a][i * side + p];
        for (int j = 0; j < side; ++j) {
          const uint32_t right = tile_[b][p * side + j];
          even[j] = rounded(even[j] + number(left << 16) * number(right << 16));
          odd[j] = rounded(odd[j] + number(left & 0xFFFF0000u) * number(right & 0xFFFF0000u));
        }
      }
      for (int j = 0; j < side; ++j) {
        uint32_t& sum = tile_[c][i * side + j];
        sum = __builtin_bit_cast(uint32_t, rounded(number(sum) + double(rounded(double(even[j]) + odd[j]))));
      }
    }
  }

 private:
  // In double the product of two factors is exact, and so rounding a sum to double before it is rounded to float
  // changes nothing: 53 bits are more than twice 24 and 2.
  static double number(uint32_t bits) {
    return (bits & 0x7F800000u) == 0 ? double(__builtin_bit_cast(float, bits & 0x80000000u))
                                     : double(__builtin_bit_cast(float, bits));
  }
  static float rounded(double x) { return std::abs(x) < 0x1p-126 - 0x1p-151 ? std::copysign(0.f, float(x)) : float(x); }
  uint32_t tile_[8][side * side];
};

// The kernel: 2 x 2 tiles of sums, tiles 0 to 3, or fewer of them; 4 and 5 are of a, 6 and 7 of b. A tile of a
// factor is used twice.
template <class Registers, int M, int N>
void block_of(int steps, const float* a, ptrdiff_t a_row, const float* b, ptrdiff_t b_row, float* sums) {
  Registers r;
  r.template zero<0>();
  if (N == 2) r.template zero<1>();
  if (M == 2) r.template zero<2>();
  if (M == 2 && N == 2) r.template zero<3>();
  for (int p = 0; p < steps; p += side, a += side, b += side * b_row) {
    r.template load<4>(a, a_row);
    r.template load<6>(b, b_row);
    r.template dot<0, 4, 6>();
    if (N == 2) r.template load<7>(b + side, b_row), r.template dot<1, 4, 7>();
    if (M == 2) r.template load<5>(a + side * a_row, a_row), r.template dot<2, 5, 6>();
    if (M == 2 && N == 2) r.template dot<3, 5, 7>();
  }
  r.template store<0>(sums, 2 * side);
  if (N == 2) r.template store<1>(sums + side, 2 * side);
  if (M == 2) r.template store<2>(sums + 2 * side * side, 2 * side);
  if (M == 2 && N == 2) r.template store<3>(sums + 2 * side * side + side, 2 * side);
}
template <class Registers>
void block(int m, int n, int steps, const float* a, ptrdiff_t a_row, const float* b, ptrdiff_t b_row, float* sums) {
  constexpr decltype(&block_of<Registers, 1, 1>) by[2][2] = {{block_of<Registers, 1, 1>, block_of<Registers, 1, 2>},
                                                             {block_of<Registers, 2, 1>, block_of<Registers, 2, 2>}};
  by[m > side][n > side](steps, a, a_row, b, b_row, sums);
}

}  // namespace

const Tiles emulated_amx{"tdpbf16ps, emulated", 2 * side, 2 * side, side, [](bool) {}, block<EmulatedTiles>};

#if defined __x86_64__ && defined __linux__
namespace {

// In the assembler's words: the compilers' own functions take no number of a tile from a template.
struct AmxTiles {
  template <int t>
  void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(t));
  }
  template <int t>
  void load(const float* from, ptrdiff_t row) {
    asm volatile("tileloadd (%0,%1,4), %%tmm%c2" ::"r"(from), "r"(row), "i"(t) : "memory");
  }
  template <int t>
  void store(float* to, ptrdiff_t row) const {
    asm volatile("tilestored %%tmm%c2, (%0,%1,4)" ::"r"(to), "r"(row), "i"(t) : "memory");
  }
  template <int c, int a, int b>
  void dot() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(c), "i"(a), "i"(b));
  }
};

// All eight tiles get 16 rows of 64 bytes (palette 1). They are given back, since a switch of threads saves what is in
// use, 8 KB.
void use(bool on) {
  if (!on) {
    asm volatile("tilerelease");
    return;
  }
  struct alignas(64) {
    uint8_t palette = 1, start_row = 0, none[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {side, side, side, side, side, side, side, side};
  } const shape;
  static_assert(sizeof shape == 64);
  asm volatile("ldtilecfg %0" ::"m"(shape));
}

}  // namespace

extern const Tiles real_amx{"tdpbf16ps", 2 * side, 2 * side, side, use, block<AmxTiles>};
#endif

}  // namespace poslab
