#include "bench/ceiling.h"

#include <algorithm>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "bench/all.h"
#include "bench/clock.h"
#include "core/error.h"
#include "core/platform/parallel.h"

namespace poslab {

Rates sgemm_rates() {
  constexpr int n = 2048;
  constexpr double flop = 2. * n * n * n;
  static const Tensor a = Tensor::full({n, n}, real(0.5)), b = Tensor::full({n, n}, real(0.25));
  Rates rates{};
  static const int rows = n * threads();   // one product for each thread
  static const Tensor all = Tensor::full({rows, n}, real(0.5));
  static std::vector<real> c(size_t(rows) * n);
  if (const auto run = openblas_product(Rounding::fp32, 1, rows, n, n, all.data(), b.data(), c.data()))
    rates.blas = threads() * flop / timed(run) / 1e9;
  const NoGrad no_grad;
  rates.ours = flop / timed([] { matmul(a, b); }) / 1e9;
  return rates;
}

double ceiling() {
  double best = 0;
  for (int i = 0; i < 4; ++i) {
    const Rates rates = sgemm_rates();
    best = std::max({best, rates.blas, rates.ours});
  }
  return best;
}

double copy_rate(int64_t bytes) {
  const int64_t half = std::max<int64_t>(bytes / 2, 64 * 1024), piece = std::max<int64_t>(half / threads(), 1);
  std::vector<char> from(size_t(half), 1), to(size_t(half), 0);
  const double seconds = fastest(0.02, [&] {
    parallel_ranges(half, piece,
                    [&](int64_t i, int64_t end) { std::memcpy(&to[size_t(i)], &from[size_t(i)], size_t(end - i)); });
  });
  return 2. * double(half) / seconds / 1e9;
}

void serve_ceiling() {
  const auto say = [](const nlohmann::json& answer) { std::cout << answer.dump() << '\n' << std::flush; };
  say({{"program", "ceiling"}, {"threads", threads()}, {"blas", openblas_name()}});
  for (std::string line; std::getline(std::cin, line);) {
    if (line != "ceiling") bad_input("bench: unknown line `{}`; known: ceiling", line);
    const Rates rates = sgemm_rates();
    say({{"blas", rates.blas}, {"ours", rates.ours}});
  }
}

}  // namespace poslab
