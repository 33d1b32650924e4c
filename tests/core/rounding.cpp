// Products with rounded factors (core/rounding.h) on the CPU: which factors are rounded, and how; bits that do not
// depend on threads; where a rounding begins and ends. tests/cuda/backend.cpp compares them with the GPU's products.
#include "tests/core/rounding.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "autograd/tape.h"
#include "core/backend.h"
#include "core/error.h"
#include "experiment/evaluate.h"
#include "experiment/step.h"
#include "tests/lab/helpers.h"

namespace poslab::test {
namespace {

// bf16 also treats subnormal numbers as zero, like the CPU's bf16 instruction (core/cpu/bf16/pairs.h).
struct Form { Rounding how; const char* name; int bits; bool to_even; };
constexpr Form tf32x3{Rounding::tf32x3, "tf32x3", 22, false}, tf32{Rounding::tf32, "tf32", 11, false},
    bf16{Rounding::bf16, "bf16", 8, true};

// x rounded by the definition to to.bits bits, or to fewer below the smallest normal number of fp32.
[[maybe_unused]] double rounded(double x, const Form& to) {
  if (x == 0 || !std::isfinite(x)) return x;
  if (to.how == Rounding::bf16 && std::abs(x) < two_to(-126)) return std::copysign(0, x);
  const double unit = two_to(std::max(std::ilogb(x), -126) - (to.bits - 1));
  const double n = to.to_even ? std::nearbyint(x / unit) : std::round(x / unit);
  return std::abs(n * unit) >= two_to(128) ? std::copysign(INFINITY, x) : n * unit;
}

// Each x times 1, with x as the left and as the right factor.
[[maybe_unused]] std::vector<std::vector<real>> times_one(const std::vector<double>& x) {
  const NoGrad none;
  const int n = int(x.size());
  const Tensor one = Tensor::full({1, 1}, 1);
  return {linear(Tensor::from(Shape{n, 1}, x), one).values(), linear(one, Tensor::from(Shape{1, n}, x)).values(),
          matmul(transpose(Tensor::from(Shape{1, n}, x)), one).values()};
}

}  // namespace

#ifdef POSLAB_DOUBLE
TEST_CASE("rounded products: doubles have only one rounding") {
  CHECK_THROWS_AS(MatmulPrecision(Device::cpu, Rounding::tf32), BadInput);
  CHECK_NOTHROW(MatmulPrecision(Device::cpu, Rounding::fp32));
  CHECK(cpu_rounding() == Rounding::fp32);
}
#else

TEST_CASE("rounded products: a rounding ends with its scope, and the outer one returns, again and again") {
  for (int turn = 0; turn < 2; ++turn) {
    CHECK(cpu_rounding() == Rounding::fp32);
    const MatmulPrecision outer(Device::cpu, Rounding::bf16);
    CHECK(cpu_rounding() == Rounding::bf16);
    {
      const MatmulPrecision inner(Device::cpu, Rounding::tf32);
      CHECK(cpu_rounding() == Rounding::tf32);
    }
    CHECK(cpu_rounding() == Rounding::bf16);
  }
  CHECK(cpu_rounding() == Rounding::fp32);
}

TEST_CASE("rounded products: single factors, with ties, subnormal numbers, infinity and NaN") {
  const double tiny = std::numeric_limits<float>::denorm_min(), most = std::numeric_limits<float>::max();
  const auto all = [&](const Form& form, const std::vector<double>& x) {
    const MatmulPrecision as(Device::cpu, form.how);
    return times_one(x);
  };
  on_each_isa([&] {
    // Values computed by hand, which also test the definition above: x and its rounded value.
    const auto becomes = [&](const Form& form, double x, double y) {
      INFO(form.name, " of ", x);
      CHECK(rounded(x, form) == y);
      for (const std::vector<real>& got : all(form, {x})) CHECK(double(got[0]) == y);
    };
    becomes(tf32, 1 + two_to(-11), 1 + two_to(-10));                       // ties go away from 0
    becomes(tf32, -1 - two_to(-11), -1 - two_to(-10));
    becomes(tf32, 1 + two_to(-11) - two_to(-23), 1);
    becomes(tf32, 2 - two_to(-23), 2);                                     // a tie may round up to a power of two
    becomes(tf32, two_to(-137), two_to(-136));                             // a subnormal tie
    becomes(tf32, tiny, 0);
    becomes(tf32, most, INFINITY);
    becomes(bf16, 1 + two_to(-8), 1);                                      // ties go to even
    becomes(bf16, 1 + 3 * two_to(-8), 1 + two_to(-6));
    becomes(bf16, -1 - two_to(-8) - two_to(-23), -1 - two_to(-7));
    becomes(bf16, two_to(-127), 0);  // subnormal; the next line has the largest subnormal number
    becomes(bf16, two_to(-126) - two_to(-149), 0);
    becomes(bf16, -two_to(-126), -two_to(-126));
    becomes(bf16, -most, -INFINITY);
    for (const Form& form : {tf32, bf16}) {
      for (const double x : {0., 1., double(-INFINITY), two_to(-126), two_to(127)}) becomes(form, x, x);
      for (const auto& got : all(form, {NAN})) CHECK(std::isnan(got[0]));

      std::vector<double> x;
      Rng rng({0, 11, uint32_t(form.bits)});
      for (int n = 0; n < 3000; ++n) {                       // numbers of all magnitudes; every third one is a tie
        const auto mantissa = float(2 * rng.uniform() - 1);
        const double of_bits = rounded(mantissa, form), half = two_to(std::ilogb(of_bits) - form.bits);
        x.push_back(double(float(std::ldexp(n % 3 ? double(mantissa) : of_bits + half, int(rng.below(270)) - 140))));
      }
      for (const auto& got : all(form, x)) {
        int wrong = 0;
        for (size_t n = 0; n < x.size(); ++n) wrong += double(got[n]) != rounded(x[n], form);
        CHECK(wrong == 0);
      }
    }
    // Two parts of 11 bits each: what is left is below the 22nd bit. Infinity has no second part.
    std::vector<double> x = {1 + two_to(-12), 1 + two_to(-22), -3.14159265f, 1e-30f, 0};
    for (const auto& got : all(tf32x3, x))
      for (size_t n = 0; n < x.size(); ++n) CHECK(std::abs(got[n] - x[n]) <= two_to(-23) * std::abs(x[n]));
    for (const double none : {double(INFINITY), double(NAN), most})
      for (const auto& got : all(tf32x3, {none})) CHECK(!std::isfinite(got[0]));
  });
}

TEST_CASE("rounded products: sums of rounded factors, with factors transposed or not, small and cut into blocks") {
  struct Sizes { int m, n, k; };
  for (const auto& [m, n, k] : {Sizes{1, 1, 1}, {7, 5, 13}, {70, 33, 65}, {33, 530, 517}})
    for (const Form& form : {tf32x3, tf32, bf16}) {
      Rng rng({0, 12, uint32_t(m)});
      std::vector<real> a(size_t(m * k)), b(size_t(k * n));               // (m, k), (k, n)
      for (auto* x : {&a, &b})
        for (real& v : *x) v = real(2 * rng.uniform() - 1);
      std::vector<double> sum(size_t(m * n), 3), unrounded(size_t(m * n), 3);
      const auto factors = [&](const std::vector<real>& x) {
        std::vector<double> y(x.begin(), x.end());
        if (form.how != Rounding::tf32x3)
          for (double& v : y) v = rounded(v, form);
        return y;
      };
      const std::vector<double> a_rounded = factors(a), b_rounded = factors(b);
      const auto add_product = [&, m = m, n = n, k = k](double* c, const auto* x, const auto* y) {
        for (int i = 0; i < m; ++i)
          for (int q = 0; q < k; ++q)
            for (int j = 0; j < n; ++j) c[i * n + j] += double(x[i * k + q]) * double(y[q * n + j]);
      };
      add_product(sum.data(), a_rounded.data(), b_rounded.data()), add_product(unrounded.data(), a.data(), b.data());
      const auto transposed = [](const std::vector<real>& x, int rows, int columns) {
        std::vector<real> y(x.size());
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < columns; ++j) y[size_t(j * rows + i)] = x[size_t(i * columns + j)];
        return y;
      };
      const std::vector<real> a_transposed = transposed(a, m, k), b_transposed = transposed(b, k, n);
      on_each_isa([&, m = m, n = n, k = k] {
        for (const bool transpose_a : {false, true})
          for (const bool transpose_b : {false, true}) {
            INFO(form.name, " ", m, "x", k, "x", n, " a_transposed ", transpose_a, " b_transposed ", transpose_b);
            const Product p{.m = m, .n = n, .k = k, .a_transposed = transpose_a, .b_transposed = transpose_b};
            std::vector<real> c(size_t(m * n), 3);
            const MatmulPrecision as(Device::cpu, form.how);
            kernels(Device::cpu)
                .matmul({c.data(), false}, (transpose_a ? a_transposed : a).data(),
                        (transpose_b ? b_transposed : b).data(), p);
            double off = 0, off_unrounded = 0;
            for (size_t e = 0; e < c.size(); ++e) {
              off = std::max(off, std::abs(c[e] - sum[e]));
              off_unrounded = std::max(off_unrounded, std::abs(c[e] - unrounded[e]));
            }
            CHECK(off < 2e-7 * (3 + k));
            if (form.how != Rounding::tf32x3) CHECK(off_unrounded > 10 * off);
          }
      });
    }
}

// The definition in the instruction's manual: pair by pair, the odd element first.
float by_pairs(const float* a, const float* b, int k) {
  float sum = 0;
  for (int p = 0; p < k; p += 2) {
    if (p + 1 < k) sum = add_product(sum, a[p + 1], b[p + 1]);
    sum = add_product(sum, a[p], b[p]);
  }
  return sum;
}
TEST_CASE("rounded products: pairs of bf16 have the bits of the instruction's definition, by hardware and emulated") {
  const ByInstruction instruction;
  Rng rng({0, 13, 0});
  for (const bool tiny : {false, true})  // normal sums, then partly subnormal ones
    for (const int k : {1, 2, 7, 64, 97}) {
      const int m = 13, n = 71;
      std::vector<float> a(size_t(m * k)), b(size_t(n * k));  // (m, k), (n, k)
      for (auto* x : {&a, &b})
        for (float& v : *x) {
          const double wide = std::ldexp(2 * rng.uniform() - 1, int(rng.below(tiny ? 16 : 40)) - (tiny ? 70 : 20));
          v = float(rounded(double(float(wide)), bf16));
        }
      std::vector<real> expected;
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) expected.push_back(by_pairs(&a[size_t(i * k)], &b[size_t(j * k)], k));
      const auto check = [&] {
        INFO(bf16_products(), " k ", k, " tiny ", tiny);
        const MatmulPrecision as(Device::cpu, Rounding::bf16);
        std::vector<real> c(expected.size());
        const Product p{.m = m, .n = n, .k = k, .b_transposed = true};
        kernels(Device::cpu).matmul({c.data(), true}, a.data(), b.data(), p);
        CHECK(std::memcmp(c.data(), expected.data(), c.size() * sizeof(real)) == 0);
      };
      on_each_isa([&] {
        if (isa() == "baseline" && tiny) return;  // baseline has no FMA: the product of two small numbers is lost
        check();
        const Emulated emulated;
        check();
      });
    }
}

TEST_CASE("rounded products: each op has the same bits with the instruction and with its emulation") {
  const ByInstruction instruction;
  if (bf16_products() == "emulated") MESSAGE("this processor has no vdpbf16ps: emulation is compared with itself");
  const MatmulPrecision as(Device::cpu, Rounding::bf16);
  for (const OpCase& c : op_cases()) {
    if (!is_product(c)) continue;
    INFO(title(c));
    const Tensors x = inputs(c);
    const Result here = run(c, x);
    const Emulated emulated;
    CHECK(same_bits(run(c, x), here));
  }
}

// Each factor is off by at most 2^-8 of itself, so a sum is off by at most 2^-7 of the sum of its terms' magnitudes; a
// network has two layers of such sums. The op itself computes that sum from its inputs' magnitudes, but gates shrink
// theirs by up to a half, and have slopes of up to 1.13. On average, errors cancel and are as large as one factor's.
// The table is bench/results/rounded.csv.
TEST_CASE("rounded products: errors of values and gradients in bf16 stay below a bound, and are as in the table") {
  std::map<std::string, std::pair<double, double>> worst;
  for (const OpCase& c : op_cases()) {
    if (!is_product(c)) continue;
    INFO(title(c));
    const double layers = c.kernel == "gated_feed_forward" ? 7 : c.kernel == "feed_forward" ? 2 : 1;
    const Tensors x = inputs(c);
    Arrays sizes = in_double(x);
    for (Array& a : sizes)
      for (double& v : a.at) v = std::abs(v);
    const Array reference = c.reference(in_double(x)), most = c.reference(sizes);
    const Result exact = run(c, x);
    const MatmulPrecision as(Device::cpu, Rounding::bf16);
    const Result rough = run(c, x);
    int beyond = 0;
    for (size_t e = 0; e < rough.value.size(); ++e)
      beyond += std::abs(double(rough.value[e]) - reference.at[e]) > layers * 1.02 * two_to(-7) * most.at[e];
    CHECK(beyond == 0);
    if (rough.value.size() < 100) continue;  // an average over few numbers says little
    auto& [value, gradient] = worst[c.kernel];
    value = std::max(value, share_off(rough.value, reference.at));
    for (size_t i = 0; i < x.size(); ++i) gradient = std::max(gradient, share_off(rough.grads[i], exact.grads[i]));
  }
  std::ostringstream text;
  text << std::ifstream(fmt::format("{}/bench/results/rounded.csv", source_folder)).rdbuf();
  const std::string table = text.str();
  for (const auto& [kernel, off] : worst) {
    CAPTURE(kernel);
    const size_t row = table.find(fmt::format("\n{},", kernel));
    REQUIRE(row != std::string::npos);
    double value = 0, gradient = 0;
    REQUIRE(std::sscanf(table.c_str() + row + 2 + kernel.size(), "%lf,%lf", &value, &gradient) == 2);
    CHECK(100 * off.first == doctest::Approx(value).epsilon(0.05));
    CHECK(100 * off.second == doctest::Approx(gradient).epsilon(0.05));
    CHECK(off.first > 1e-4);
    CHECK(off.first < 0.005);
    CHECK(off.second < (kernel == "linear" || kernel == "matmul" ? 0.005 : 0.06));  // a ReLU's input may change sign
  }
}

// Factors are off by 2^-8 of themselves. The absolute error of a logit becomes the relative error of its exponential.
// fp32 counts as exact here: other tests compare it with double.
TEST_CASE("rounded products: attention of narrow heads in bf16, by the instruction and by its emulation") {
  const ByInstruction instruction;
  int rounded = 0;
  double worst = 0, worst_gradient = 0;
  for (const OpCase& c : op_cases()) {
    if (c.kernel != "attention") continue;
    INFO(title(c));
    const Tensors x = inputs(c);
    const Result exact = run(c, x);
    const MatmulPrecision as(Device::cpu, Rounding::bf16);
    const Result rough = run(c, x);
    rounded += !same_bits(rough, exact);
    if (rough.value.size() >= 100) {
      worst = std::max(worst, share_off(rough.value, exact.value));
      for (size_t i = 0; i < x.size(); ++i)
        worst_gradient = std::max(worst_gradient, share_off(rough.grads[i], exact.grads[i]));
    }
    const Result thrice = run(c, c.op, x, all_inputs, 3);  // each pass adds to the gradients
    for (size_t i = 0; i < x.size(); ++i)
      CHECK(difference(thrice.grads[i], rough.grads[i], floor_of(rough), 3) <= repeat_tolerance);
    for (size_t only = 0; only < x.size() && !same_bits(rough, exact); ++only) {  // with only one gradient wanted
      const Result one = run(c, c.op, x, [&](size_t i) { return i == only; });
      CHECK(difference(one.grads[only], rough.grads[only], floor_of(rough)) < 0.01);
    }
    const Emulated emulated;
    CHECK(same_bits(run(c, x), rough));
  }
  INFO("value ", worst, " gradients ", worst_gradient);
  CHECK(rounded > 0);
  CHECK(worst < 0.01);
  CHECK(worst_gradient < 0.02);
}

TEST_CASE("rounded products: forward and backward passes have the same bits with two threads and with one") {
  const OneThread one;
  for (const Form& form : {tf32x3, tf32, bf16}) {
    const MatmulPrecision as(Device::cpu, form.how);
    int tried = 0;
    for (const OpCase& c : op_cases()) {
      if (!is_product(c)) continue;
      INFO(form.name, " ", title(c));
      const Tensors x = inputs(c);
      set_threads(1);
      const Result by_one = run(c, x);
      set_threads(2);
      CHECK(same_bits(run(c, x), by_one));
      ++tried;
    }
    CHECK(tried > 20);
  }
}

TEST_CASE("rounded products: a run rounds in its steps and tests, and nowhere else") {
  const OneThread one;
  const auto fresh = [](const char* how) { return State(tiny_config({{"matmul", how}})); };
  const auto step = [](State& s) {
    return finish_step(s.config, start_step(s, draw_step(s.config, s.adam.step))).loss;
  };
  std::vector<std::vector<double>> losses;
  for (const char* how : rounding_names) {
    State s = fresh(how);
    losses.push_back({});
    for (int n = 0; n < 4; ++n) losses.back().push_back(step(s)), losses.back().push_back(evaluate(s, 4).loss);
    CHECK(cpu_rounding() == Rounding::fp32);
    for (size_t n = 0; n < 8; ++n) CHECK(losses.back()[n] == doctest::Approx(losses[0][n]).epsilon(0.03));
    for (size_t n = 0; n + 1 < losses.size(); ++n) CHECK(losses[n] != losses.back());
  }
  // Each run steps as it would alone, even if the runs take turns.
  State a = fresh("fp32"), b = fresh("bf16");
  for (size_t n = 0; n < 8; n += 2) {
    CHECK(step(a) == losses[0][n]);
    CHECK(step(b) == losses[3][n]);
    CHECK(evaluate(b, 4).loss == losses[3][n + 1]);
    CHECK(evaluate(a, 4).loss == losses[0][n + 1]);
  }
  {
    const MatmulPrecision outer(Device::cpu, Rounding::bf16);
    CHECK(cpu_rounding() == Rounding::bf16);
    CHECK(step(a) != losses[0][0]);
    CHECK(cpu_rounding() == Rounding::bf16);
  }
  CHECK(cpu_rounding() == Rounding::fp32);
}
#endif

}  // namespace poslab::test
