// Counter-based random numbers: Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"). A
// number is a pure function of (seed, purpose, site, step, index): the same bits on every device, in any order, for any
// number of threads, and after any resume. Nothing in poslab reads a generator with hidden state.
#pragma once
#include <cstdint>

#include "core/fields.h"

namespace poslab {

enum class Purpose : uint32_t { init, length, tokens, positions, dropout, test_tokens, test_positions, test_dropout,
                                align_tokens };

// One use of random numbers: Philox's key and the upper half of its counter, whose lower half is the index of a block.
struct Stream {
  uint64_t seed = 0;
  uint32_t step = 0;
  uint32_t site = 0;  // purpose and place: (purpose << 24) + index of the layer, parameter, sequence, ...
  FIELDS(Stream, seed, step, site)
};
inline Stream stream(uint64_t seed, Purpose purpose, uint64_t step, uint32_t index = 0) {
  return {seed, uint32_t(step), (uint32_t(purpose) << 24) + index};
}

struct Bits { uint32_t at[4]; };   // one block of Philox

// Ten rounds; each multiplies two words, swaps halves and mixes in the key.
[[gnu::always_inline]] constexpr Bits philox(uint64_t index, Stream s) {
  uint32_t c0 = uint32_t(index), c1 = uint32_t(index >> 32), c2 = s.step, c3 = s.site;
  uint32_t k0 = uint32_t(s.seed), k1 = uint32_t(s.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t(0xD2511F53u) * c0, p1 = uint64_t(0xCD9E8D57u) * c2;
    c0 = uint32_t(p1 >> 32) ^ c1 ^ k0, c1 = uint32_t(p1);
    c2 = uint32_t(p0 >> 32) ^ c3 ^ k1, c3 = uint32_t(p0);
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

// Reads a stream from its start, for code that draws one number after the other (tasks, samplers, initial weights).
class Rng {
 public:
  explicit Rng(Stream s) : stream_(s) {}
  uint32_t bits() {                       // the next 32 bits of the stream
    if (left_ == 0) now_ = philox(index_++, stream_), left_ = 4;
    return now_.at[--left_];
  }
  uint32_t below(uint32_t n);             // exactly uniform on 0 .. n-1 (no modulo bias)
  int between(int low, int high) { return low + int(below(uint32_t(high - low + 1))); }  // inclusive
  double uniform();                       // [0, 1), 53 bits
  double normal();                        // N(0, 1)
  double truncated_normal();              // N(0, 1) conditioned on |x| < 2, as JAX and Haiku draw it

 private:
  Stream stream_;
  uint64_t index_ = 0;
  Bits now_{};
  int left_ = 0;
};

}  // namespace poslab
