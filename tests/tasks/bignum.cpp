// 500-bit arithmetic, against machine integers where these suffice, and against identities elsewhere.
#include "tasks/bignum.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace poslab;

namespace {

Tokens bits_of(unsigned __int128 x) {
  Tokens bits;
  for (; x; x >>= 1) bits.push_back(int(x & 1));
  return bits.empty() ? Tokens{0} : bits;
}
Natural natural(unsigned __int128 x) { return from_bits(bits_of(x)); }

// Random bits, or long runs of ones and zeros, which carry far.
Natural draw(Rng& rng, int most_bits) {
  Tokens bits(size_t(rng.between(0, most_bits)));
  const bool runs = rng.below(2);
  int bit = 0;
  for (int& b : bits) b = bit = runs && rng.below(40) ? bit : rng.between(0, 1);
  return from_bits(bits);
}

uint64_t modulo(const Natural& x, uint64_t prime) {  // by Horner's rule over the bits
  uint64_t rest = 0;
  const Tokens bits = to_bits(x);
  for (auto bit = bits.rbegin(); bit != bits.rend(); ++bit) rest = (2 * rest + uint64_t(*bit)) % prime;
  return rest;
}

}  // namespace

TEST_CASE("bignum: all small numbers") {
  for (unsigned a = 0; a < 70; ++a)
    for (unsigned b = 0; b < 70; ++b) {
      CHECK(natural(a) + natural(b) == natural(a + b));
      CHECK(natural(a) * natural(b) == natural(a * b));
      CHECK((natural(a) <= natural(b)) == (a <= b));
      if (b <= a) CHECK(natural(a) - natural(b) == natural(a - b));
    }
  unsigned root = 0;
  for (unsigned x = 0; x < 5000; ++x) {
    if ((root + 1) * (root + 1) <= x) ++root;
    CHECK(isqrt(natural(x)) == natural(root));
  }
}

TEST_CASE("bignum: from bits and back") {
  CHECK(to_bits(Natural{}) == Tokens{0});
  CHECK(to_bits(from_bits({0, 1, 1, 0, 0})) == Tokens{0, 1, 1});
  CHECK(from_bits({0, 0, 0}) == Natural{});
  for (int n : {31, 32, 33, 64, 500}) {
    Tokens power(size_t(n), 0);
    power.push_back(1);
    CHECK(to_bits(from_bits(power)) == power);
  }
}

TEST_CASE("bignum: 64-bit operands against machine integers") {
  Rng rng({1, 0, 0});
  for (int i = 0; i < 2000; ++i) {
    const auto word = [&] { return uint64_t(rng.bits()) << 32; };
    const uint64_t a = (word() | rng.bits()) >> rng.below(64), b = (word() | rng.bits()) >> rng.below(64);
    using wide = unsigned __int128;
    CHECK(natural(a) + natural(b) == natural(wide(a) + b));
    CHECK(natural(a) * natural(b) == natural(wide(a) * b));
    CHECK(natural(std::max(a, b)) - natural(std::min(a, b)) == natural(std::max(a, b) - std::min(a, b)));
    CHECK((natural(a) <= natural(b)) == (a <= b));
  }
}

TEST_CASE("bignum: identities to 500 bits") {
  Rng rng({2, 0, 0});
  const Natural one = natural(1);
  for (int i = 0; i < 1000; ++i) {
    const Natural a = draw(rng, 500), b = draw(rng, 500), c = draw(rng, 200);
    CHECK((a + b) - b == a);
    CHECK((a + b) - a == b);
    CHECK(a + b == b + a);
    CHECK(a <= a + b);
    CHECK(a * b == b * a);
    CHECK((a + b) * c == a * c + b * c);
    for (uint64_t prime : {2147483647ull, 1000000007ull, 998244353ull, 4294967291ull}) {
      CHECK(modulo(a + b, prime) == (modulo(a, prime) + modulo(b, prime)) % prime);
      CHECK(modulo(a * b, prime) == modulo(a, prime) * modulo(b, prime) % prime);
    }
    const Natural s = isqrt(a), t = s + one;
    CHECK(s * s <= a);
    CHECK(a + one <= t * t);
    CHECK(isqrt(b * b) == b);
    if (!b.limbs.empty()) CHECK(isqrt(b * b - one) == b - one);
  }
}
