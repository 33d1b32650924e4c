// Vectors of Philox words, and the dropout factors made from them (core/random.h, Dropout in core/kernels.h).
// Each word has a 64-bit lane: the product of two 32-bit words then needs no shuffling, and the upper half of a lane is
// never read.
#pragma once
#include <utility>

#include "core/cpu/simd.h"
#include "core/kernels.h"
#include "core/memory.h"

namespace poslab::POSLAB_ISA {

typedef uint64_t Lanes64 __attribute__((vector_size(vector_bytes)));
constexpr int blocks_per_vector = vector_bytes / 8;   // Philox blocks, one per 64-bit lane

// b times the lower half of each lane of a.
inline Lanes64 wide_product(Lanes64 a, uint32_t b) {
#if defined __AVX512F__
  // The mask selects all lanes: without one, GCC 12 warns about its own header.
  return (Lanes64)_mm512_maskz_mul_epu32(0xFF, (__m512i)a, _mm512_set1_epi64(b));
#elif defined __AVX2__
  return (Lanes64)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi64x(b));
#elif defined __SSE2__
  return (Lanes64)_mm_mul_epu32((__m128i)a, _mm_set1_epi64x(b));
#else
  return (a & 0xFFFFFFFFu) * b;
#endif
}

// Lanes of a and b in turn, in two vectors: out = a0 b0 a1 b1 ...
template <int... i>
inline void interleave(Lanes64* out, Lanes64 a, Lanes64 b, std::integer_sequence<int, i...>) {
  constexpr int n = blocks_per_vector;
  out[0] = __builtin_shufflevector(a, b, (i / 2 + i % 2 * n)...);
  out[1] = __builtin_shufflevector(a, b, (n / 2 + i / 2 + i % 2 * n)...);
}

// The 16-bit words of philox_blocks blocks from `index` on, eight each, in the order in which elements read them. This
// assumes a little-endian machine, as all machines with these vector units are.
constexpr int chains = 2;   // ten rounds depend on each other; two such chains side by side hide latency
constexpr int philox_blocks = chains * blocks_per_vector;
inline void philox_words(uint16_t* out, uint64_t index, Stream s) {
  Lanes64 c0[chains], c1[chains], c2[chains], c3[chains];
  for (int u = 0; u < chains; ++u) {
    for (int i = 0; i < blocks_per_vector; ++i) c0[u][i] = uint64_t(u) * blocks_per_vector + uint64_t(i);
    c0[u] += index;
    c1[u] = c0[u] >> 32, c2[u] = Lanes64{} + s.step, c3[u] = Lanes64{} + s.site;
  }
  uint32_t k0 = uint32_t(s.seed), k1 = uint32_t(s.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int u = 0; u < chains; ++u) {
      const Lanes64 p0 = wide_product(c0[u], 0xD2511F53u), p1 = wide_product(c2[u], 0xCD9E8D57u);
      c0[u] = (p1 >> 32) ^ c1[u] ^ k0, c1[u] = p1;
      c2[u] = (p0 >> 32) ^ c3[u] ^ k1, c3[u] = p0;
    }
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  for (int u = 0; u < chains; ++u) {
    Lanes64 ordered[2];
    interleave(ordered, (c0[u] & 0xFFFFFFFFu) | c1[u] << 32, (c2[u] & 0xFFFFFFFFu) | c3[u] << 32,
               std::make_integer_sequence<int, blocks_per_vector>());
    __builtin_memcpy(out + u * 8 * blocks_per_vector, ordered, sizeof ordered);
  }
}

inline uint32_t dropout_threshold(const Dropout& d) { return uint32_t(65536 * d.rate + real(0.5)); }

// out[e] = the dropout factor of element from + e, e < n: 0 or 1 / (probability to keep).   from: a multiple of 8
inline void write_dropout_factors(real* out, int64_t from, int64_t n, const Dropout& d) {
  constexpr int run = 8 * philox_blocks;
  const uint32_t threshold = dropout_threshold(d);
  const real scale = real(65536) / real(65536 - threshold);
  uint16_t words[run];
  for (; n > 0; out += run, from += run, n -= run) {
    philox_words(words, uint64_t(from) / 8, d.stream);
    if (n >= run)
      for (int e = 0; e < run; ++e) out[e] = words[e] >= threshold ? scale : 0;
    else
      for (int e = 0; e < n; ++e) out[e] = words[e] >= threshold ? scale : 0;
  }
}

// The factors of rows from .. to - 1, n numbers each, in scratch buffer 2; null if nothing is dropped.   from: a
// multiple of 8
inline const real* dropout_factors(int64_t from, int64_t to, int n, const Dropout& d) {
  if (d.rate == 0) return nullptr;
  real* factors = scratch(2, (to - from) * n);
  write_dropout_factors(factors, from * n, (to - from) * n, d);
  return factors;
}

}  // namespace poslab::POSLAB_ISA
