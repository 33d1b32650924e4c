// Products of bf16 by tiles (core/tiles.h), and bf16x3. Which bits they have, on processors without such instructions
// by their emulation, and how far they are off.
#include <doctest/doctest.h>

#include <cfenv>
#include <cstring>
#include <functional>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/backend.h"
#include "tests/rounding.h"

#ifndef POSLAB_DOUBLE
namespace poslab::test {
namespace {

// As Intel's manual has it: of 32 places the even and the odd ones by themselves, added up, and added to the sum.
float by_amx(const float* a, const float* b, int k) {
  float sum = 0;
  for (int first = 0; first < k; first += 32) {
    float part[2] = {};
    for (int p = first; p < k && p < first + 32; ++p) part[p % 2] = add_product(part[p % 2], a[p], b[p]);
    sum = add_product(sum, add_product(part[0], part[1], 1), 1);
  }
  return sum;
}

// One operation of ARM's bfmmla: cut off by the processor's own rounding, and if that was not exact, its last bit set.
template <class Operation>
float to_odd(float a, float b, const Operation& operation) {
  const int before = std::fegetround();
  const volatile float x = a, y = b;  // so that the compiler computes nothing beforehand
  std::fesetround(FE_TOWARDZERO), std::feclearexcept(FE_INEXACT);
  const volatile float result = operation(float(x), float(y));
  const bool inexact = std::fetestexcept(FE_INEXACT);
  std::fesetround(before);
  const float cut = result;
  if (std::abs(cut) < two_to(-126)) return std::copysign(0.f, cut);
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, cut) | uint32_t(inexact));
}
float by_bfmmla(const float* a, const float* b, int k) {
  const auto sum = [](float x, float y) { return to_odd(x, y, std::plus<float>()); };
  const auto product = [](float x, float y) { return to_odd(x, y, std::multiplies<float>()); };
  float c = 0;
  for (int p = 0; p < k; p += 2) c = sum(c, sum(product(a[p], b[p]), p + 1 < k ? product(a[p + 1], b[p + 1]) : 0));
  return c;
}

struct TileKind {
  const Tiles& tiles;
  float (*sum)(const float* a, const float* b, int k);
};
const TileKind tile_kinds[] = {{emulated_amx, by_amx}, {emulated_bfmmla, by_bfmmla}};

}  // namespace

TEST_CASE("tiles: products have the bits of the instructions' definitions, whichever way factors lie") {
  Rng rng({0, 14, 0});
  struct Sizes {
    int m, n, k;
  };
  for (const bool tiny : {false, true})  // sums that are normal numbers, and some that are not
    for (const auto& [m, n, k] : {Sizes{1, 1, 1}, {13, 71, 2}, {70, 33, 64}, {9, 40, 97}, {33, 520, 520}}) {
      if (tiny && k > 100) continue;
      std::vector<real> a(size_t(m * k)), b(size_t(n * k)), a_transposed(a), b_transposed(b);  // (m, k), (n, k)
      for (auto* x : {&a, &b})
        for (real& v : *x) {
          const double wide = std::ldexp(2 * rng.uniform() - 1, int(rng.below(tiny ? 16 : 40)) - (tiny ? 70 : 20));
          v = __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, float(wide)) & 0xFFFF0000u);
        }
      for (int p = 0; p < k; ++p) {
        for (int i = 0; i < m; ++i) a_transposed[size_t(p * m + i)] = a[size_t(i * k + p)];
        for (int j = 0; j < n; ++j) b_transposed[size_t(p * n + j)] = b[size_t(j * k + p)];
      }
      for (const TileKind& kind : tile_kinds) {
        // What is larger than the cache is cut into 512 places, the sums of which are added up in fp32; there a look at
        // every 101st number is enough.
        const bool large = n * k > 1 << 18;
        const int step = large ? 101 : 1;
        std::vector<real> expected;
        for (int e = 0; e < m * n; e += step) {
          const float *from_a = &a[size_t(e / n * k)], *from_b = &b[size_t(e % n * k)];
          expected.push_back(large ? kind.sum(from_a, from_b, 512) + kind.sum(from_a + 512, from_b + 512, k - 512)
                                   : kind.sum(from_a, from_b, k));
        }
        const UseTiles use(&kind.tiles);
        const MatmulPrecision as(Device::cpu, Matmul::bf16);
        on_each_isa([&, m = m, n = n, k = k] {
          if (isa() != available_isas().back() && large) return;
          for (const bool transpose_a : {false, true})
            for (const bool transpose_b : {false, true}) {
              if (large && transpose_a != transpose_b) continue;
              INFO(bf16_products(), " ", m, "x", k, "x", n, transpose_a ? " a^T" : "", transpose_b ? " b^T" : "",
                   " tiny ", tiny);
              std::vector<real> c(size_t(m * n)), looked_at;
              const Product p{.m = m, .n = n, .k = k, .a_transposed = transpose_a, .b_transposed = !transpose_b};
              kernels(Device::cpu)
                  .matmul({c.data(), true}, (transpose_a ? a_transposed : a).data(),
                          (transpose_b ? b_transposed : b).data(), p);
              for (int e = 0; e < m * n; e += step) looked_at.push_back(c[size_t(e)]);
              CHECK(std::memcmp(looked_at.data(), expected.data(), expected.size() * sizeof(real)) == 0);
            }
        });
      }
    }
}

// The same rounded factors, whose products are exact: only the order in which they are added differs, and a network's
// hidden numbers may fall to the other side of a tie by it. Against double both are off by what rounding factors costs.
TEST_CASE("tiles: each op is within the rounding of sums of what pairs give, for any threads") {
  const OneThread one;
  const MatmulPrecision as(Device::cpu, Matmul::bf16);
  for (const TileKind& kind : tile_kinds) {
    int tried = 0, differ = 0;
    for (const OpCase& c : op_cases()) {
      if (!is_product(c)) continue;
      INFO(kind.tiles.name, " ", title(c));
      const Tensors x = inputs(c);
      if (x[0].size() > 10000) continue;  // emulation takes its time
      const Result by_pairs = [&] {
        const UseTiles none(nullptr);
        return run(c, x);
      }();
      const UseTiles use(&kind.tiles);
      const Result by_tiles = run(c, x);
      const bool network = c.kernel != "linear" && c.kernel != "matmul";
      CHECK(difference(by_tiles, by_pairs) <= (network ? two_to(-7) : 1e-6));
      if (by_tiles.value.size() >= 100) {
        const Array exact = c.reference(in_double(x));
        CHECK(share_off(by_tiles.value, exact.at) ==
              doctest::Approx(share_off(by_pairs.value, exact.at)).epsilon(0.05));
      }
      if (x[0].size() > 1000) {
        set_threads(2);
        CHECK(same_bits(run(c, x), by_tiles));
        set_threads(1);
      }
      ++tried, differ += !same_bits(by_tiles, by_pairs);
    }
    CHECK(tried > 20);
    CHECK(differ > 5);  // or tiles were not used
  }
}

// Two numbers of 8 bits would leave 2^-16 of a factor, 100 times the bound of fp32; three leave nothing of its 24 bits.
TEST_CASE("tiles: bf16x3 keeps single factors whole, and products of few rows are those of fp32") {
  Rng rng({0, 15, 0});
  const NoGrad none;
  const auto multiply = [](const Tensor& a, const Tensor& b) {
    const MatmulPrecision as(Device::cpu, Matmul::bf16x3);
    return matmul(a, b).values();
  };
  const auto random = [&](int rows, int columns, int most) {  // from 2^-most to 2^most
    Tensor x({rows, columns});
    for (int64_t e = 0; e < x.size(); ++e)
      x.data()[e] = real(std::ldexp(2 * rng.uniform() - 1, int(rng.below(uint32_t(2 * most))) - most));
    return x;
  };
  const Tensor one = Tensor::full({1, 1}, 1), x = random(900, 1, 100);
  for (const Tiles* by : {static_cast<const Tiles*>(nullptr), &emulated_amx, &emulated_bfmmla, tiles()}) {
    const UseTiles use(by);
    INFO(bf16_products());
    CHECK(multiply(x, one) == x.values());
    const Tensor few = random(7, 40, 10), many = random(8, 40, 10), w = random(40, 24, 10);
    CHECK(multiply(few, w) == matmul(few, w).values());
    CHECK(multiply(many, w) != matmul(many, w).values());
  }
}

TEST_CASE("tiles: what bfmmla sums stays finite up to 2^128, and from there on is infinite") {
  const UseTiles use(&emulated_bfmmla);
  const MatmulPrecision as(Device::cpu, Matmul::bf16);
  // Three products are the 24 ones of the largest float. The fourth is more than half of its last place, and what is
  // beyond it is cut off; the fifth is more than its last place.
  std::vector<real> a, b;
  for (const int power : {63, 55, 47, 39, 40}) {
    a.insert(a.end(), {0x1.FEp64f, 0}), b.insert(b.end(), {real(two_to(power)), 0});
    const int k = int(a.size());
    std::vector<real> rows;
    for (int i = 0; i < 16; ++i) rows.insert(rows.end(), a.begin(), a.end());
    const Tensor c = matmul(Tensor::from({16, k}, rows), Tensor::from({k, 1}, b));
    const real expected = k < 4 ? 0x1.FEp127f : k < 6 ? 0x1.FFFEp127f : k < 10 ? 0x1.FFFFFEp127f : INFINITY;
    CHECK(c.values() == std::vector<real>(16, expected));
  }
}

// On processors that have them; elsewhere there is nothing to hold. core/tiles.h does the same at their first use.
TEST_CASE("tiles: the processor's own do what the emulated ones do") {
  CHECK(apart(emulated_bfmmla, emulated_bfmmla) == 0);
  if (amx()) CHECK(apart(*amx(), emulated_amx) <= 1e-6);
  if (amx()) WARN(apart(*amx(), emulated_amx) == 0);  // as the manual has it, but nobody has seen it yet
  if (bfmmla()) CHECK(apart(*bfmmla(), emulated_bfmmla) == 0);
  if (!amx() && !bfmmla()) MESSAGE("this processor has no tiles: only their emulation is tested");
  // A kernel that mixes up two columns is found and not used.
  static const auto wrong = [](int m, int n, int steps, const float* a, ptrdiff_t a_row, const float* b,
                               ptrdiff_t b_row, float* sums) {
    emulated_amx.block(m, n, steps, a, a_row, b, b_row, sums);
    std::swap(sums[0], sums[1]);
  };
  Tiles broken = emulated_amx;
  broken.name = "tdpbf16ps, broken on purpose by a test,", broken.block = wrong;
  CHECK(apart(broken, emulated_amx) > 1e-3);
  CHECK(checked(broken, emulated_amx) == nullptr);
  CHECK(checked(emulated_amx, emulated_amx) == &emulated_amx);
}
}  // namespace poslab::test
#endif
