// Products by several threads have the same bits as products by one, in every instruction set and by every engine.
// Thousands of small products would collide in a shared buffer; large ones are cut into blocks.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "core/engine.h"
#include "core/kernels.h"
#include "core/platform/isa.h"
#include "core/platform/parallel.h"
#include "core/random.h"
#include "tests/support/op_run.h"

using namespace poslab;

namespace {

using Reals = std::vector<real>;

Reals random_reals(int64_t n, uint32_t seed) {
  Rng rng({0, 5, seed});
  Reals x(static_cast<size_t>(n));
  for (real& v : x) v = real(2 * rng.uniform() - 1);
  return x;
}

struct Factors {
  Product p;
  Reals a, b;
  explicit Factors(Product product) : p(product) {
    p.a_step = int64_t(p.m) * p.k, p.b_step = int64_t(p.k) * p.n, p.c_step = int64_t(p.m) * p.n;
    a = random_reals(p.batch * p.a_step, 1), b = random_reals(p.batch * p.b_step, 2);
  }
  Reals multiply(Engine by = Engine::own) const {
    const UseEngine of_this_thread(by);
    Reals c(size_t(p.batch * p.c_step));
    kernels(Device::cpu).matmul({c.data(), true}, a.data(), b.data(), p);
    return c;
  }
};

int different_products(const Reals& c, const Reals& expected, const Product& p) {
  int n = 0;
  for (int64_t i = 0; i < p.batch; ++i)
    n += std::memcmp(&c[size_t(i * p.c_step)], &expected[size_t(i * p.c_step)], size_t(p.c_step) * sizeof(real)) != 0;
  return n;
}

struct Case { Product p; int rounds = 1; };
const Case cases[] = {{{.batch = 500, .m = 40, .n = 40, .k = 64}, 8},                // 4,000 products
                      {{.batch = 500, .m = 40, .n = 40, .k = 8, .b_transposed = true}, 8},
                      {{.batch = 40, .m = 65, .n = 530, .k = 520}, 1},               // b is larger than 1 MB
                      {{.batch = 2, .m = 200, .n = 610, .k = 1100, .a_transposed = true}, 2},
                      {{.batch = 2, .m = 200, .n = 610, .k = 1100, .b_transposed = true}, 2}};

}  // namespace

TEST_CASE("products computed by four threads have the same bits as by one") {
  const std::string before = isa();
  const int were = threads();
  std::vector<std::pair<std::string, Engine>> ways;            // only our own engine has several instruction sets
  for (const std::string& set : available_isas()) ways.emplace_back(set, Engine::own);
  for (const Engine by : test::engines_here())
    if (by != Engine::own) ways.emplace_back(before, by);
  for (const auto& [set, by] : ways) {
    use_isa(set);
    for (const Case& x : cases) {
      const Factors factors(x.p);
      const int rounds = by == Engine::naive ? 1 : x.rounds;   // the naive engine has no buffers, and is slow
      INFO(set, ", ", engine_names[int(by)], ": ", x.p.batch, " of ", x.p.m, "x", x.p.k, "x", x.p.n);
      set_threads(1);
      const Reals expected = factors.multiply(by);
      int wrong = 0;
      set_threads(4);                                        // the threads of the pool share one call
      for (int round = 0; round < rounds; ++round)
        wrong += different_products(factors.multiply(by), expected, factors.p);
      CHECK_MESSAGE(wrong == 0, "one caller");
      wrong = 0;
      set_threads(1);                                        // each caller computes its own product
      std::vector<int> wrong_of(4);
      std::vector<std::thread> callers;
      for (int& mine : wrong_of)
        callers.emplace_back([&, by = by] {
          for (int round = 0; round < (rounds + 3) / 4; ++round)
            mine += different_products(factors.multiply(by), expected, factors.p);
        });
      for (std::thread& t : callers) t.join();
      for (const int n : wrong_of) wrong += n;
      CHECK_MESSAGE(wrong == 0, "four callers");
    }
  }
  use_isa(before);
  set_threads(were);
}

TEST_CASE("a product cut into blocks equals its formula, with factors transposed or not") {
  const std::string before = isa();
  for (const bool a_transposed : {false, true})
    for (const bool b_transposed : {false, true})
      for (const bool add : {false, true}) {
        Factors factors({.m = 197, .n = 579, .k = 517, .a_transposed = a_transposed, .b_transposed = b_transposed});
        const auto& [p, a, b] = factors;
        std::vector<double> expected(size_t(p.c_step), add ? 3 : 0);
        for (int i = 0; i < p.m; ++i)
          for (int q = 0; q < p.k; ++q)
            for (int j = 0; j < p.n; ++j)
              expected[size_t(i * p.n + j)] += double(a[size_t(a_transposed ? q * p.m + i : i * p.k + q)]) *
                                               b[size_t(b_transposed ? j * p.k + q : q * p.n + j)];
        for (const std::string& set : available_isas()) {
          use_isa(set);
          Reals c(size_t(p.c_step), 3);
          kernels(Device::cpu).matmul({c.data(), !add}, a.data(), b.data(), p);
          double worst = 0;
          for (size_t e = 0; e < c.size(); ++e) worst = std::max(worst, std::abs(c[e] - expected[e]));
          INFO(set, " a_transposed ", a_transposed, " b_transposed ", b_transposed, " add ", add);
          CHECK(worst < (sizeof(real) == 4 ? 1e-4 : 1e-12));
        }
      }
  use_isa(before);
}
