#include "bench/all.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "bench/clock.h"
#include "core/backend.h"
#include "core/error.h"
#include "core/platform/isa.h"
#include "core/platform/parallel.h"
#include "lab/files/version.h"

namespace poslab {
namespace {

// c = a b for matrices of n x n numbers, stored row by row.
using Loops = void (*)(int n, const real* a, const real* b, real* c);

// One dot product for each number of c. Each addition waits for the previous one; a column of b lies in n rows.
void dots(int n, const real* a, const real* b, real* c) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      real sum = 0;
      for (int p = 0; p < n; ++p) sum += a[i * n + p] * b[p * n + j];
      c[i * n + j] = sum;
    }
}

// The same terms, row by row: the inner loop runs along a row of b and a row of c, so that the compiler vectorizes it.
// All of b is read again for each row of c.
void rows(int n, const real* a, const real* b, real* c) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) c[i * n + j] = 0;
    for (int p = 0; p < n; ++p)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + p] * b[p * n + j];
  }
}

// A block of b, 64 rows by 256 columns, stays in the cache until all rows of a have used it.
void blocks(int n, const real* a, const real* b, real* c) {
  constexpr int deep = 64, wide = 256;
  for (int e = 0; e < n * n; ++e) c[e] = 0;
  for (int p0 = 0; p0 < n; p0 += deep)
    for (int j0 = 0; j0 < n; j0 += wide)
      for (int i = 0; i < n; ++i)
        for (int p = p0; p < std::min(p0 + deep, n); ++p)
          for (int j = j0; j < std::min(j0 + wide, n); ++j) c[i * n + j] += a[i * n + p] * b[p * n + j];
}

struct Rung {
  std::string name;
  std::function<const real*()> run;  // returns c
  double most_off;                   // allowed difference from the first rung, relative to the largest number
};

bool has_vdpbf16ps() {
  const UsePairs by(PairsBy::instruction);
  return bf16_products() != "emulated";
}

}  // namespace

void time_ladder() {
  constexpr int n = 1024;
  const NoGrad no_grad;
  set_threads(1);
  Tensor a({n, n}), b({n, n}), y;
  for (int e = 0; e < n * n; ++e) a.data()[e] = real(e % 17) / 17 - real(0.5), b.data()[e] = real(e % 13) / 13;
  std::vector<real> c(size_t(n) * n);
  const auto by = [&](Loops product) {
    return [&, product]() -> const real* { return product(n, a.data(), b.data(), c.data()), c.data(); };
  };
  const auto ours = [&](Rounding how, PairsBy pairs = PairsBy::fastest) {
    return [&, how, pairs]() -> const real* {
      const UsePairs by_pairs(pairs);
      const MatmulPrecision as(Device::cpu, how);
      y = matmul(a, b);
      return y.data();
    };
  };
  std::vector<Rung> rungs = {{"dot", by(dots), 0},
                             {"rows", by(rows), 1e-5},
                             {"blocks", by(blocks), 1e-5},
                             {"tiles", ours(Rounding::fp32), 1e-5}};
  if (sizeof(real) == sizeof(float)) {
    rungs.push_back({"pairs", ours(Rounding::bf16, PairsBy::emulated), 1e-2});
    if (has_vdpbf16ps()) rungs.push_back({"vdpbf16ps", ours(Rounding::bf16, PairsBy::instruction), 1e-2});
  }
  std::map<std::string, std::string> here;
  for (const auto& [name, word] : about()) here[name] = word;
  fmt::print("# {}; bf16 {}; commit {}; {} x {} x {}, one thread, the fastest of several\nrung,gflops\n", isa(),
             here.at("bf16"), here.at("commit"), n, n, n);
  std::vector<real> first;
  for (const Rung& rung : rungs) {
    const real* c_now = rung.run();
    const std::vector<real> got(c_now, c_now + n * n);
    if (first.empty()) first = got;
    double off = 0, largest = 0;
    for (size_t e = 0; e < got.size(); ++e) {
      off = std::max(off, std::abs(double(got[e]) - double(first[e])));
      largest = std::max(largest, std::abs(double(first[e])));
    }
    if (!(off <= rung.most_off * largest))
      failure("bench: {} is off by {:.1e} of the largest number", rung.name, off / largest);
    fmt::print("{},{:.2f}\n", rung.name, 2. * n * n * n / fastest(1, rung.run) / 1e9);
    std::fflush(stdout);
  }
}

}  // namespace poslab
