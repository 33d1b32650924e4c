// Attention with heads of 8 channels in bf16 (core/cpu/attention/narrow_pairs.h), on numbers that rounding must not
// change: NaN, infinity, and numbers that rounding would turn into one of these or into 0.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "core/backend.h"
#include "core/random.h"
#include "tests/core/rounding.h"

#ifndef POSLAB_DOUBLE
namespace poslab::test {

TEST_CASE("rounded products: attention of narrow heads keeps NaN, infinity, huge and subnormal numbers as they are") {
  const MatmulPrecision as(Device::cpu, Rounding::bf16);
  AttentionArgs x{.batch = 1, .queries = 17, .keys = 19, .heads = 2, .kv_heads = 2, .head_dim = 8, .value_dim = 8};
  const size_t of_queries = size_t(x.queries) * 16, of_keys = size_t(x.keys) * 16;
  x.scale = real(0.3);
  std::vector<real> in[4] = {std::vector<real>(of_queries), std::vector<real>(of_keys), std::vector<real>(of_keys),
                             std::vector<real>(of_queries)};  // q, k, v, do
  Rng rng({0, 14, 0});
  for (auto& array : in)
    for (real& a : array) a = real(2 * rng.uniform() - 1);
  const auto results = [&] {  // o, dq, dk, dv
    std::vector<real> o(of_queries), stats(size_t(4 * x.queries)), out[3];
    AttentionGrads d{};
    Accumulator* to[3] = {&d.q[0], &d.k[0], &d.v};
    for (int n = 0; n < 3; ++n) out[n].resize(in[n].size()), *to[n] = {out[n].data(), true};
    x.piece[0].q = in[0].data(), x.piece[0].k = in[1].data(), x.v = in[2].data();
    kernels(Device::cpu).attention(o.data(), stats.data(), x);
    kernels(Device::cpu).attention_backward(d, x, in[3].data(), o.data(), stats.data());
    for (const auto& grads : out) o.insert(o.end(), grads.begin(), grads.end());
    return o;
  };
  const auto same = [](real a, real b) {
    return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
  };
  // the largest and smallest quiet NaN, a signalling NaN, infinity, the largest number, 2^112, two subnormal numbers
  for (const uint32_t bits :
       {0x7FFFFFFFu, 0xFFC00000u, 0xFF800001u, 0x7F800000u, 0x7F7FFFFFu, 0x77800000u, 0x7FFFFFu, 1u})
    for (auto& array : in)
      for (const size_t at : {size_t(0), array.size() - 1}) {
        const real before = std::exchange(array[at], __builtin_bit_cast(real, bits));
        INFO(std::hex, bits, std::dec, " in array ", &array - in, " at ", at);
        std::vector<real> first;
        on_each_isa([&] {
          std::vector<real> expected;
          {
            const ByInstruction instruction;
            expected = results();
          }
          const Emulated emulated;
          const std::vector<real> y = results();
          if (first.empty()) first = y;
          int differ = 0;
          for (size_t e = 0; e < y.size(); ++e)
            differ += !same(y[e], expected[e]) || std::isfinite(y[e]) != std::isfinite(first[e]);
          CHECK(differ == 0);
        });
        array[at] = before;
      }
}

}  // namespace poslab::test
#endif
