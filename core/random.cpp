// Distributions over the words of a Philox stream. Each number reads the next words and keeps nothing for the number
// after it, so Box-Muller's second value is dropped. The only state of a stream is how far it has been read.
#include "core/random.h"

#include <cmath>
#include <numbers>

namespace poslab {

// The high word of bits * n is uniform once the 2^32 mod n smallest low words are drawn again (Lemire 2019).
uint32_t Rng::below(uint32_t n) {
  uint64_t product = uint64_t(bits()) * n;
  if (uint32_t(product) < n) {  // rarely: division is slow
    const uint32_t surplus = -n % n;
    while (uint32_t(product) < surplus) product = uint64_t(bits()) * n;
  }
  return uint32_t(product >> 32);
}

double Rng::uniform() {
  const uint64_t high = bits();
  return double((high << 32 | bits()) >> 11) * 0x1p-53;
}

// sqrt(-2 log u) cos(2 pi v), u in (0, 1]   (Box and Muller 1958)
double Rng::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

double Rng::truncated_normal() {
  double x = normal();
  while (std::abs(x) >= 2) x = normal();  // one in 22
  return x;
}

}  // namespace poslab
