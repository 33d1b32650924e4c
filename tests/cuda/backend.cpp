// The CUDA backend against the CPU: every kernel by its OpCase; tests/cuda/training.cpp has whole models. On a machine
// without a GPU the kernels are emulated (cuda/emulate.h): the same sources, as plain C++. A build for a GPU fails
// every test if there is no GPU, because kernels() throws.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

#include "autograd/tape.h"
#include "core/error.h"
#include "core/memory.h"
#include "cuda/backend.h"
#include "tests/cuda/helpers.h"
#include "tests/support/op_run.h"
#ifdef POSLAB_EMULATE
#include "cuda/emulate.h"
#endif

namespace poslab::test {
namespace {

// POSLAB_SHARE=2/4 selects every fourth case of an op, from the second on. Under compute-sanitizer, one process would
// take too long for all cases, so four processes share them (cuda/on_gpu.py).
bool in_share(int n) {
  const char* text = std::getenv("POSLAB_SHARE");
  int part = 1, of = 1;
  if (text && (std::sscanf(text, "%d/%d", &part, &of) != 2 || part < 1 || part > of))
    bad_input("POSLAB_SHARE={} is not a share: 2/4 is the second of four", text);
  return n % of == part - 1;
}

// Emulation is slow. Smaller products also have whole and partial tiles, several per dimension, and split sums.
bool too_large(const OpCase& c, double flops) { return emulated && c.flops > flops; }

}  // namespace

TEST_CASE("cuda: every kernel gives what the CPU's gives, forward and backward") {
  const OneThread one;
  const BlockKernels blocks;
  [[maybe_unused]] const Quick quick;
  struct Worst { double value = 0, gradient = 0; int cases = 0; };
  std::map<std::string, Worst> table;
  int number = 0;
  for (const OpCase& c : op_cases()) {
    if (!in_share(number++) || too_large(c, 8e6)) continue;
    INFO(title(c));
    const Tensors x = inputs(c);
    const Result cpu = run(c, x), gpu = run(c, x, Device::cuda);
    Worst& worst = table[c.kernel];
    ++worst.cases;
    worst.value = std::max(worst.value, value_error(c, gpu.value, c.reference(in_double(x))));
    CHECK(worst.value <= value_tolerance);
    const double all = difference(gpu, cpu);
    CHECK(all <= cuda_tolerance);
    worst.gradient = std::max(worst.gradient, all);
  }
  fmt::print("\nWorst relative errors on {}\n{:<18}{:>6}{:>22}{:>32}\n", backend(Device::cuda).name(), "kernel",
             "cases", "value, to reference", "value and gradients, to the CPU");
  for (const auto& [kernel, w] : table)
    fmt::print("{:<18}{:>6}{:>22.1e}{:>32.1e}\n", kernel, w.cases, w.value, w.gradient);
}

#ifdef POSLAB_EMULATE
// A GPU guarantees no order of blocks and threads, and no content of unwritten memory. A kernel whose result depends on
// either is wrong.
TEST_CASE("cuda: no kernel depends on the order of threads, or reads memory that no thread has written") {
  const OneThread one;
  const BlockKernels blocks;
  const Quick quick;
  const cuda::PoisonedMemory poisoned;
  struct InOrder {
    ~InOrder() { emulate::shuffle_turns(0); }
  } again;
  for (const OpCase& c : op_cases()) {
    if (!is_small(c, c.of_gpu ? 27000 : 5000)) continue;     // emulation is slow
    const Tensors x = inputs(c);
    emulate::shuffle_turns(0);
    const Result in_order = run(c, x, Device::cuda);
    for (const uint64_t seed : {1, 2}) {
      INFO(title(c) << ", turns " << seed);
      emulate::shuffle_turns(seed);
      CHECK(difference(run(c, x, Device::cuda), in_order) == 0);
    }
  }
}

TEST_CASE("cuda: memory of the host is refused as an argument of a kernel") {
  const Tensor there = Tensor::full({4}, 1, Device::cuda), here = Tensor::full({4}, 1);
  const Kernels& k = kernels(Device::cuda);
  CHECK_THROWS_WITH_AS(k.squares(nullptr, here.data(), 4), doctest::Contains("is not memory of the device"), Failure);
}
#endif

TEST_CASE("cuda: angles that require a gradient are refused if x is on another device") {
  const Tensor x = Tensor::full({1, 2, 1, 2}, 1, Device::cuda);
  Tensor angles = Tensor::full({1, 2, 1}, 1);
  CHECK(rotate(x, angles, Pairing::half).size() == 4);
  angles.require_grad();
  CHECK_THROWS_WITH_AS(rotate(x, angles, Pairing::half),
                       doctest::Contains("must be on the device of x; compute them there"), BadInput);
}

TEST_CASE("cuda: the gradient of a temperature equals the CPU's if a bias of -infinity hides keys") {
  const OneThread one;
  const int T = 5, H = 2;
  for (const int D : {4, 8, 20, 300}) {
    CAPTURE(D);
    const OpCase c{
        "attention", "hidden by a bias", {{1, T, H, D}, {1, T, H, D}, {1, T, H, D}, {1, T, H}}, [=](const Tensors& x) {
          std::vector<double> bias;
          for (int d = 1 - T; d < T; ++d) bias.insert(bias.end(), {d > 0 || d == -2 ? -INFINITY : 0, 0.5});
          Scores s{.pieces = {{x[0], x[1]}}, .scale = real(0.05)};
          s.bias = Tensor::from({2 * T - 1, H}, bias).to(x[0].device());
          s.temperature = exp(x[3]);
          return attention(s, x[2], {});
        }};
    const Tensors x = inputs(c);
    CHECK(difference(run(c, x, Device::cuda), run(c, x)) <= cuda_tolerance);
  }
}

// With this many sequences a block of attention has two of them, and the last block has one; this many keys need two
// tiles.
TEST_CASE("cuda: blocks of several sequences sum the gradients of their distances, and repeat the same bits") {
  const OneThread one;
  [[maybe_unused]] const Quick quick;
  const int B = 77, T = 29, H = 8, D = 8, rows = 2 * T - 1;
  for (const bool causal : {false, true}) {
    CAPTURE(causal);
    const Shape row{B, T, H, D};
    const OpCase c{"attention", "several sequences", {row, row, row, row, {rows, H, D}, {rows, H}},
                   [=](const Tensors& x) {
                     Scores s{.pieces = {{x[0], x[1]}}, .scale = real(0.4)};
                     s.q_rel = x[3], s.r = x[4], s.bias = x[5];
                     return attention(s, x[2], {.causal = causal});
                   }};
    const Tensors x = inputs(c);
    const Result gpu = run(c, x, Device::cuda);
    CHECK(difference(gpu, run(c, x)) <= cuda_tolerance);
    CHECK(difference(gpu, run(c, x, Device::cuda)) == 0);
  }
}

// The CPU rounds the same factors in the same way, so it differs from a GPU only in the order of sums. If a sum is
// itself a factor, as for hidden numbers and their gradients, it may be rounded to the other side of a tie. It is then
// off by one unit of the rounding, and the results computed from it by a share of that unit.
TEST_CASE("cuda: products on tensor cores have the error of their rounded factors, and equal the CPU's") {
  const OneThread one;
  const BlockKernels blocks;
  [[maybe_unused]] const Quick quick;
  const Backend& gpu = backend(Device::cuda);
  if (sizeof(real) == 8) {
    CHECK_THROWS_AS(gpu.set_rounding(Rounding::tf32, Engine::own), BadInput);
    return;
  }
  // A factor of b bits is off by at most 2^-b of itself, a sum of such products by less than that share of the terms.
  struct Form { Rounding how; double least, most, unit; };
  for (const Form& form : {Form{Rounding::tf32x3, 0, 1e-5, cuda_tolerance},
                           {Rounding::tf32, 2e-5, 4e-3, std::ldexp(1., -10)},
                           {Rounding::bf16, 2e-4, 4e-2, std::ldexp(1., -7)}}) {
    const char* name = rounding_names[int(form.how)];
    double worst = 0, to_cpu = 0, networks_to_cpu = 0;
    int64_t numbers = 0, off_numbers = 0;
    int tried = 0;
    for (const OpCase& c : op_cases()) {
      const bool network = c.kernel == "feed_forward" || c.kernel == "gated_feed_forward";
      const bool block = c.kernel.starts_with("encoder_");
      if (!c.kernel.starts_with("linear") && c.kernel != "matmul" && !network && !block) continue;
      const Tensors x = inputs(c);
      if (too_large(c, 4e6) || (c.kernel == "gated_feed_forward" && x[0].size() > 10000)) continue;
      INFO(name << " " << title(c));
      const Result plain = run(c, x);
      const MatmulPrecision cpu_as(Device::cpu, form.how), gpu_as(Device::cuda, form.how);
      const Result there = run(c, x, Device::cuda);
      if (!block) {
        const Result here = run(c, x);
        const double off_here = difference(there, here);
        CHECK(off_here <= (network ? form.unit : cuda_tolerance));
        (network ? networks_to_cpu : to_cpu) = std::max(network ? networks_to_cpu : to_cpu, off_here);
        const auto count = [&](const std::vector<real>& a, const std::vector<real>& b, double floor) {
          const double least = cuda_tolerance * std::max(largest(b), floor);
          for (size_t e = 0; e < a.size(); ++e) off_numbers += std::abs(double(a[e]) - double(b[e])) > least;
          numbers += int64_t(a.size());
        };
        count(there.value, here.value, 0);
        for (size_t i = 0; i < x.size(); ++i) count(there.grads[i], here.grads[i], floor_of(here));
      }
      // The sign of a hidden number may change, and with it the whole gradient.
      const bool values_alone = (network || block) && form.how != Rounding::tf32x3;
      const double off = values_alone ? difference(there.value, plain.value, 0) : difference(there, plain);
      CHECK(off <= form.most);
      worst = std::max(worst, off), ++tried;
    }
    CHECK(tried > 10);
    CHECK(worst >= form.least);
    CHECK(off_numbers <= numbers / 100);
    fmt::print(
        "products in {}: off by at most {:.1e} of the largest number; the CPU's and the GPU's differ by {:.1e}, "
        "in networks by {:.1e}, {} of {} numbers by more than {:.0e}\n",
        name, worst, to_cpu, networks_to_cpu, off_numbers, numbers, cuda_tolerance);
  }
  struct Fp32Again {
    ~Fp32Again() { backend(Device::cuda).set_rounding(Rounding::fp32, Engine::own); }
  } fp32_again;
  // 1 x 1: how one factor is rounded, at ties and near them.
  const auto rounded = [&](Rounding how, double x) {
    gpu.set_rounding(how, Engine::own);
    const Tensor a = Tensor::from<double>({1, 1}, {x}).to(Device::cuda), b = Tensor::full({1, 1}, 1, Device::cuda);
    return double(linear(a, b).item());
  };
  const auto two_to = [](int n) { return std::ldexp(1., n); };
  CHECK(rounded(Rounding::tf32, 1 + two_to(-11)) == 1 + two_to(-10));              // ties go away from 0
  CHECK(rounded(Rounding::tf32, -1 - two_to(-11)) == -1 - two_to(-10));
  CHECK(rounded(Rounding::tf32, 1 + two_to(-12)) == 1);
  CHECK(rounded(Rounding::tf32x3, 1 + two_to(-12)) == 1 + two_to(-12));
  CHECK(rounded(Rounding::bf16, 1 + two_to(-8)) == 1);                             // ties go to even
  CHECK(rounded(Rounding::bf16, 1 + 3 * two_to(-8)) == 1 + two_to(-6));
  CHECK(rounded(Rounding::fp32, 1 + two_to(-23)) == 1 + two_to(-23));
}

// On a GPU without cuBLAS this test fails with a message that says how to install cuBLAS.
TEST_CASE("cuda: products by cuBLAS equal those of our kernels with the same rounding, forward and backward") {
  const OneThread one;
  [[maybe_unused]] const Quick quick;
  CHECK_THROWS_AS(MatmulPrecision(Device::cpu, Rounding::fp32, Engine::cublas), BadInput);
  CHECK_THROWS_AS(MatmulPrecision(Device::cuda, Rounding::tf32x3, Engine::cublas), BadInput);
  for (const Rounding how : {Rounding::fp32, Rounding::tf32, Rounding::bf16}) {
    if (sizeof(real) == 8 && how != Rounding::fp32) continue;
    const double unit = how == Rounding::fp32 ? 0 : std::ldexp(1., how == Rounding::tf32 ? -10 : -7);
    int tried = 0;
    for (const OpCase& c : op_cases()) {
      const bool network = c.kernel == "feed_forward" || c.kernel == "gated_feed_forward";
      const Tensors x = inputs(c);
      if (!is_product(c) || too_large(c, 1e6) || (network && x[0].size() > 10000)) continue;
      INFO(rounding_names[int(how)] << " " << title(c));
      const auto by = [&](Engine engine) {
        const MatmulPrecision as(Device::cuda, how, engine);
        return run(c, x, Device::cuda);
      };
      const double bound = network ? std::max(unit, cuda_tolerance) : cuda_tolerance;
      CHECK(difference(by(Engine::cublas), by(Engine::own)) <= bound);
      ++tried;
    }
    CHECK(tried > 10);
  }
}

#ifdef POSLAB_EMULATE
TEST_CASE("cuda: products that do not depend on each other share a launch, and dependent ones follow it") {
  const OneThread one;
  const auto filled = [](Shape shape, double step) {
    std::vector<double> values(size_t(size_of(shape)));
    for (size_t e = 0; e < values.size(); ++e) values[e] = std::sin(step * double(e));
    return Tensor::from(std::move(shape), values);
  };
  const Tensor x = filled({5, 8}, 0.3), w = filled({8, 8}, 0.7), u = filled({8, 8}, 1.1);
  const auto launches = [](const std::function<Tensor(Device)>& work) {
    const std::vector<real> expected = work(Device::cpu).values();
    const int64_t before = cuda::given().launches;
    const Tensor y = work(Device::cuda);
    const std::vector<real> got = y.values();
    CHECK(difference(got, expected, 1) <= cuda_tolerance);
    return cuda::given().launches - before;
  };
  const NoGrad none;
  CHECK(launches([&](Device d) { return linear(x.to(d), w.to(d)); }) == 1);
  CHECK(launches([&](Device d) { return linear(linear(x.to(d), w.to(d)), u.to(d)); }) == 2);
  // The sum reads both products, which share a launch.
  CHECK(launches([&](Device d) {
          const Tensor at = x.to(d), a = w.to(d), b = u.to(d), first = linear(at, a), second = linear(at, b);
          return first + second;
        }) == 2);
}
#endif

TEST_CASE("cuda: unwanted gradients are not computed, and wanted ones are added to existing values") {
  const OneThread one;
  const BlockKernels blocks;
  [[maybe_unused]] const Quick quick;
  for (const OpCase& c : op_cases()) {
    // Emulation is slow, and the small cases have all edges. In a whole encoder block, 25,000 numbers are weights.
    if (!c.differentiable || !is_small(c, c.of_gpu ? 27000 : 5000)) continue;
    INFO(title(c));
    check_gradients_alone(c, Device::cuda, cuda_tolerance);
  }
}

TEST_CASE("cuda: one tensor as several inputs gets all their gradients") {
  const OneThread one;
  [[maybe_unused]] const Quick quick;
  std::map<std::string, int> tried;        // tried pairs of inputs, by kernel and kind: 12 at most
  int in_threes = 0;
  for (const OpCase& c : op_cases()) {
    const Tensors x = inputs(c);
    if (c.kernel == "norm" && x[0].dim(-1) == 2) continue;   // the norm is -1 and 1, and its gradient cancels
    int& tried_of_kind = tried[c.kernel + c.name.substr(0, c.name.find_first_of("(0123456789"))];
    // Replaces all inputs with these indices by the first of these inputs.
    const auto shares = [&](const std::vector<size_t>& numbers) {
      INFO(title(c) << ", inputs " << numbers.front() << " to " << numbers.back());
      const auto with_equal = [&](Tensors u) {
        for (const size_t n : numbers) u[n] = u[numbers[0]];
        return u;
      };
      const auto shared = [&](const Tensors& t) { return c.op(with_equal(t)); };
      const Tensors equal = with_equal(x);
      const Result cpu = run(c, shared, equal, all_inputs), gpu = run(c, shared, equal, all_inputs, 1, Device::cuda);
      CHECK(difference(gpu.grads[numbers[0]], cpu.grads[numbers[0]], floor_of(cpu)) <= cuda_tolerance);
    };
    for (size_t i = 0; c.differentiable && i < x.size(); ++i) {
      std::vector<size_t> alike = {i};
      for (size_t j = i + 1; j < x.size(); ++j) {
        if (x[i].shape() != x[j].shape() || x[i].size() > 2000 || ++tried_of_kind > 12) continue;
        shares({i, j});
        alike.push_back(j);
      }
      if (alike.size() > 2) shares(alike), ++in_threes;      // q, k and v of attention
    }
  }
  CHECK(in_threes > 0);
}

}  // namespace poslab::test
