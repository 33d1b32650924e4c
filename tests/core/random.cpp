// Philox against its authors' known answers, and samples against the distributions they are drawn from.
#include "core/random.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/params.h"
#include "tests/support/statistics.h"

using namespace poslab;
using namespace poslab::testing;

namespace {

void check_words(uint64_t index, Stream s, std::vector<uint32_t> expected) {
  const Bits bits = philox(index, s);
  for (size_t i = 0; i < 4; ++i) CHECK(bits.at[i] == expected[i]);
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// Cells of width 1/4 from -4 to 4; the outermost cells also count all numbers beyond them.
int cell_of(double x) { return std::clamp(int(std::floor(x * 4)), -16, 15); }

}  // namespace

TEST_CASE("philox: known answers of Random123 (counter words: index low, index high, step, site)") {
  check_words(0, {0, 0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  check_words(~uint64_t(0), {~uint64_t(0), ~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  check_words(0x85a308d3'243f6a88, {0x299f31d0'a4093822, 0x13198a2e, 0x03707344},
              {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
  static_assert(philox(0, {0, 0, 0}).at[0] == 0x6627e8d5);
}

TEST_CASE("streams differ by seed, purpose, step and index, and repeat themselves") {
  const auto first = [](Stream s) { Rng rng(s); return uint64_t(rng.bits()) << 32 | rng.bits(); };
  const uint64_t base = first(stream(1, Purpose::tokens, 2, 3));
  CHECK(base == first(stream(1, Purpose::tokens, 2, 3)));
  CHECK(base != first(stream(2, Purpose::tokens, 2, 3)));
  CHECK(base != first(stream(1, Purpose::positions, 2, 3)));
  CHECK(base != first(stream(1, Purpose::tokens, 3, 3)));
  CHECK(base != first(stream(1, Purpose::tokens, 2, 4)));
}

TEST_CASE("below(n): every value comes equally often, even if n does not divide 2^32") {
  for (uint32_t n : {1u, 2u, 3u, 7u, 100u}) {
    Rng rng({5, n, 0});
    std::map<uint32_t, double> law;
    std::map<uint32_t, int> seen;
    for (uint32_t i = 0; i < n; ++i) law[i] = 1.0 / n;
    for (int i = 0; i < 100000; ++i) ++seen[rng.below(n)];
    CHECK(surprise(law, seen, 100000) < one_in_a_million);
  }
  // n = 3 * 2^30: w mod n hits the first third too often, and floor(w n / 2^32) hits multiples of 3 too often
  Rng rng({6, 0, 0});
  std::map<uint32_t, int> thirds, residues;
  for (int i = 0; i < 30000; ++i) {
    const uint32_t x = rng.below(3u << 30);
    ++thirds[x >> 30], ++residues[x % 3];
  }
  const std::map<uint32_t, double> alike{{0, 1 / 3.}, {1, 1 / 3.}, {2, 1 / 3.}};
  CHECK(surprise(alike, thirds, 30000) < one_in_a_million);
  CHECK(surprise(alike, residues, 30000) < one_in_a_million);
}

TEST_CASE("between includes both ends") {
  Rng rng({7, 0, 0});
  std::map<int, int> seen;
  for (int i = 0; i < 10000; ++i) ++seen[rng.between(-2, 1)];
  CHECK(surprise<int>({{-2, 0.25}, {-1, 0.25}, {0, 0.25}, {1, 0.25}}, seen, 10000) < one_in_a_million);
}

TEST_CASE("uniform: [0, 1), 53 bits") {
  Rng rng({8, 0, 0});
  double sum = 0, squares = 0;
  uint64_t bits_met = 0;
  std::map<int, double> law;
  std::map<int, int> seen;
  const int n = 200000;
  for (int i = 0; i < 64; ++i) law[i] = 1 / 64.0;
  for (int i = 0; i < n; ++i) {
    const double u = rng.uniform();
    REQUIRE((u >= 0 && u < 1));
    REQUIRE(u * 0x1p53 == std::floor(u * 0x1p53));
    bits_met |= uint64_t(u * 0x1p53);
    sum += u, squares += u * u, ++seen[int(u * 64)];
  }
  CHECK(bits_met == (uint64_t(1) << 53) - 1);
  CHECK(std::abs(sum / n - 1 / 2.) < 5 * std::sqrt(1 / 12. / n));
  CHECK(std::abs(squares / n - 1 / 3.) < 5 * std::sqrt(4 / 45. / n));
  CHECK(surprise(law, seen, n) < one_in_a_million);
}

TEST_CASE("normal and truncated normal: moments and cells") {
  const int n = 200000;
  for (const bool truncated : {false, true}) {
    Rng rng({9, truncated, 0});
    const double inside = truncated ? normal_cdf(2) - normal_cdf(-2) : 1;
    std::map<int, double> law;
    std::map<int, int> seen;
    for (int c = truncated ? -8 : -16; c < (truncated ? 8 : 16); ++c) {
      const double low = c == -16 ? 0 : normal_cdf(c / 4.), high = c == 15 ? 1 : normal_cdf((c + 1) / 4.);
      law[c] = (high - low) / inside;
    }
    double moments[5] = {};
    for (int i = 0; i < n; ++i) {
      const double x = truncated ? rng.truncated_normal() : rng.normal();
      if (truncated) REQUIRE(std::abs(x) < 2);
      for (int k = 1; k <= 4; ++k) moments[k] += std::pow(x, k) / n;
      ++seen[cell_of(x)];
    }
    CHECK(surprise(law, seen, n) < one_in_a_million);
    // E x^2 = 1 - 4 phi(2) / inside,  E x^4 = 3 E x^2 - 16 phi(2) / inside   for |x| < 2
    const double edge = truncated ? std::exp(-2.0) / std::sqrt(2 * std::acos(-1)) / inside : 0;
    const double second = 1 - 4 * edge, fourth = 3 * second - 16 * edge;
    CHECK(std::abs(moments[1]) < 5 / std::sqrt(n));
    CHECK(std::abs(moments[2] - second) < 5 * std::sqrt(2.0 / n));
    CHECK(std::abs(moments[3]) < 5 * std::sqrt(15.0 / n));
    CHECK(std::abs(moments[4] - fourth) < 5 * std::sqrt(96.0 / n));
  }
}

TEST_CASE("uniformly drawn parameters: within their range, with the right moments, from a stream of their own") {
  const int n = 40000;
  const double low = -0.5, high = 1.5, width = high - low;
  const Params p(7);
  const Tensor first = p.full("first", {3}, 1), x = p.uniform("x", {n}, low, high), y = p.uniform("y", {n}, low, high);
  // The k-th central moment: (width / 2)^k / (k + 1) for even k, 0 for odd k.
  double moments[5] = {}, together = 0;
  for (int i = 0; i < n; ++i) {
    const double a = double(x.data()[i]), about = (a - (low + high) / 2) / (width / 2);
    REQUIRE((a >= low && a < high));
    for (int k = 1; k <= 4; ++k) moments[k] += std::pow(about, k) / n;
    together += about * (double(y.data()[i]) - (low + high) / 2) / (width / 2) / n;
  }
  for (int k = 1; k <= 4; ++k) {
    const double law = k % 2 ? 0 : 1. / (k + 1), deviation = std::sqrt((1. / (2 * k + 1) - law * law) / n);
    CHECK_MESSAGE(std::abs(moments[k] - law) < 5 * deviation, "moment " << k);
  }
  CHECK(std::abs(together) < 5. / 3 / std::sqrt(n));  // x and y have variance 1/3, so their product has 1/9
  // A parameter's stream depends only on its index in the list, not on other parameters or names.
  Rng rng(stream(7, Purpose::init, 0, 1));
  for (int i = 0; i < 100; ++i) CHECK(x.data()[i] == real(low + width * rng.uniform()));
  const Params other(7), another(8);
  other.normal("z", {5}, 1), another.normal("z", {5}, 1);
  CHECK((other / "deep").uniform("w", {n}, low, high).values() == x.values());
  CHECK(another.uniform("x", {n}, low, high).values() != x.values());
  CHECK(y.values() != x.values());
  // Rounding must never give the upper end, although for an eighth of these draws it is the nearest number.
  const real end = real(1) + 4 * std::numeric_limits<real>::epsilon();
  for (const real v : p.uniform("narrow", {1000}, 1, double(end)).values()) CHECK((v >= 1 && v < end));
}

TEST_CASE("params: a tensor of more than a million numbers is one stream, although it is drawn in pieces") {
  const Tensor x = Params(7).normal("w", {(1 << 20) + 3}, 1);
  Rng rng(stream(7, Purpose::init, 0, 0));
  int64_t same = 0;
  for (int64_t i = 0; i < x.size(); ++i) same += x.data()[i] == real(rng.normal());
  CHECK(same == x.size());
}
