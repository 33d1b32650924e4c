#include "bench/all.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "bench/ceiling.h"
#include "bench/clock.h"
#include "core/backend.h"
#include "core/error.h"
#include "core/platform/openblas.h"
#include "core/platform/parallel.h"

namespace poslab {
namespace {

struct Case {
  int batch, m, k, n;
};
// The linear layers of a step (B T is 5120 for 128 sequences of 40 slots, 2560 for 20), a square, one head's logits.
constexpr Case cases[] = {{1, 5120, 64, 64},  {1, 5120, 64, 256}, {1, 5120, 256, 64},
                          {1, 2560, 64, 64},  {1, 2560, 64, 256}, {1, 2560, 256, 64},
                          {1, 512, 512, 512}, {1024, 40, 8, 40},  {1024, 40, 40, 8}};

struct Runner {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds = {};
  double median() {
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  }
};

// The libraries take turns of a few products. During the pause the other libraries' threads stop spinning; the first
// product of a turn wakes the library's own threads and does not count.
void take_turns(std::vector<Runner>& runners) {
  const auto start = std::chrono::steady_clock::now();
  for (int turn = 0; turn < 5 || seconds_since(start) < 0.5; ++turn)
    for (size_t i = 0; i < runners.size(); ++i) {
      Runner& r = runners[turn % 2 ? runners.size() - 1 - i : i];
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      r.run();
      for (int n = 0; n < 10; ++n) r.seconds.push_back(timed(r.run));
    }
}

void check_agreement(const Tensor& ours, const std::vector<real>& theirs, const std::string& name) {
  for (int64_t i = 0; i < ours.size(); ++i)
    if (!(std::abs(ours.data()[i] - theirs[size_t(i)]) <= 1e-4 * (1 + std::abs(ours.data()[i]))))
      failure("bench: {} and matmul differ at element {}: {} and {}", name, i, theirs[size_t(i)], ours.data()[i]);
}

// For bf16 the other libraries get rounded factors, while our time includes rounding and packing. Sums are in fp32.
std::vector<uint16_t> halves(const Tensor& x) {
  std::vector<uint16_t> all;
  for (const real v : x.values()) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, float(v));
    all.push_back(uint16_t((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16));
  }
  return all;
}

void time_products(Rounding how, double peak) {
  const bool rounded = how == Rounding::bf16;
  const MatmulPrecision as(Device::cpu, how);
  fmt::print("\nproducts{}, medians of turns, GFLOP/s (share of a large product's {:.0f} in fp32)\n{:<22}",
             rounded ? " in bf16" : "", peak, "");
  for (const char* name : {"poslab", "OpenBLAS", "oneDNN"}) fmt::print("{:>15}", name);
  fmt::print("{:>22}\n", "poslab / the faster");
  for (const Case& p : cases) {
    const Shape left{p.batch, p.m, p.k}, right{p.batch, p.k, p.n};
    Tensor a = Tensor::full(left, 0), b = Tensor::full(right, 0);
    for (int64_t i = 0; i < a.size(); ++i) a.data()[i] = real(i % 17) / 17 - real(0.5);
    for (int64_t i = 0; i < b.size(); ++i) b.data()[i] = real(i % 13) / 13 - real(0.5);
    std::vector<uint16_t> a16 = halves(a), b16 = halves(b);
    std::vector<real> c(size_t(p.batch) * p.m * p.n);
    void *left_at = a.data(), *right_at = b.data();
    if (rounded) left_at = a16.data(), right_at = b16.data();
    const Tensor ours = matmul(a, b);
    std::vector<Runner> runners{{"poslab", [&] { matmul(a, b); }}};
    if (const auto run = openblas_product(how, p.batch, p.m, p.k, p.n, left_at, right_at, c.data()))
      runners.push_back({"OpenBLAS", run});
    if (const auto run = dnnl_product(how, p.batch, p.m, p.k, p.n, left_at, right_at, c.data()))
      runners.push_back({"oneDNN", run});
    for (size_t i = 1; i < runners.size(); ++i) {
      runners[i].run();
      check_agreement(ours, c, runners[i].name);
    }
    take_turns(runners);
    fmt::print("{:<22}", fmt::format("{}{}x{}x{}", p.batch > 1 ? fmt::format("{} of ", p.batch) : "", p.m, p.k, p.n));
    double best = 1e9;
    for (const std::string name : {"poslab", "OpenBLAS", "oneDNN"}) {
      const auto r = std::find_if(runners.begin(), runners.end(), [&](const Runner& one) { return one.name == name; });
      if (r == runners.end()) {
        fmt::print("{:>15}", "absent");
        continue;
      }
      const double rate = 2. * p.batch * p.m * p.k * p.n / r->median() / 1e9;
      if (name != "poslab") best = std::min(best, r->median());
      fmt::print("{:>15}", fmt::format("{:.0f} ({:.0f} %)", rate, 100 * rate / peak));
    }
    fmt::print("{:>22}\n", best < 1e9 ? fmt::format("{:.2f}", best / runners[0].median()) : "");
  }
}

}  // namespace

void time_products() {
  const NoGrad no_grad;
  const double peak = ceiling();
  time_products(Rounding::fp32, peak);
  if (sizeof(real) == sizeof(float)) time_products(Rounding::bf16, peak);
  if (has_openblas() && !has_sbgemm())
    fmt::print("\n{} is built without bf16: it has no cblas_sbgemm.\n", openblas_name());
}

}  // namespace poslab
