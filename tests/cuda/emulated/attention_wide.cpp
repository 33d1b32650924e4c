// The backward pass of attention on tensor cores (cuda/attention_wide.cu), called alone, in the emulation.
#if defined(POSLAB_EMULATE) && !defined(POSLAB_DOUBLE)
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.h"
#include "cuda/attention_routes.h"
#include "cuda/backend.h"

namespace poslab::test {

// The du of long sequences is stored, so their queries are processed part by part, and each part adds to dk and dv.
TEST_CASE("cuda: attention of wide heads sums the same gradients if its queries are processed in two parts") {
  const cuda::HostMemoryToo host;
  const int T = 90, H = 2, D = 16, n = T * H * D, rows = 2 * T - 1;
  Rng rng({0, 31, 0});
  std::vector<real> in[5];                                            // q, k, v, do, bias
  for (auto& array : in) {
    array.resize(size_t(&array == &in[4] ? rows * H : n));
    for (real& a : array) a = real(2 * rng.uniform() - 1);
  }
  AttentionArgs x{.batch = 1, .queries = T, .keys = T, .heads = H, .kv_heads = H, .head_dim = D, .value_dim = D};
  x.causal = true, x.scale = real(0.3), x.rows = rows, x.bias = in[4].data();
  x.piece[0].q = in[0].data(), x.piece[0].k = in[1].data(), x.v = in[2].data();
  std::vector<real> o(size_t(n), 0), stats(size_t(2 * T * H), 0);
  cuda::wide::attention(o.data(), stats.data(), x);
  struct Grads {
    std::vector<real> q, k, v, du;
  };
  const auto backward = [&](const std::vector<int>& ends) {
    Grads all{std::vector<real>(size_t(n)), std::vector<real>(size_t(n)), std::vector<real>(size_t(n)), {}};
    int from = 0;
    for (const int to : ends) {
      std::vector<real> du(size_t(H * T * (to - from)), 0);
      cuda::AttentionPass pass{{}, x, in[3].data(), o.data(), stats.data(), {.du = du.data()}};
      pass.d.q[0] = {all.q.data(), true};
      pass.d.k[0] = {all.k.data(), from == 0}, pass.d.v = {all.v.data(), from == 0};
      cuda::wide::backward(pass, from, to);
      for (int i = from; i < to; ++i)                                 // by query, so that the parts are contiguous
        for (int e = 0; e < H * T; ++e) all.du.push_back(du[size_t(e * (to - from) + i - from)]);
      from = to;
    }
    return all;
  };
  const Grads whole = backward({T}), parts = backward({50, T});
  const auto check = [](const std::vector<real>& y, const std::vector<real>& expected) {
    REQUIRE(y.size() == expected.size());
    double off = 0, most = 0;
    for (size_t e = 0; e < y.size(); ++e)
      off = std::max(off, std::abs(double(y[e]) - double(expected[e]))), most = std::max(most, std::abs(double(y[e])));
    CHECK(most > 0.01);
    CHECK(off <= 1e-5 * most);
  };
  check(parts.q, whole.q), check(parts.k, whole.k), check(parts.v, whole.v), check(parts.du, whole.du);
}

}  // namespace poslab::test
#endif
