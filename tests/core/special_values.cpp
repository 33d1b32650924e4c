// The edges of float: NaN, infinities, large and tiny numbers, and how many units in the last place the functions are
// off.
#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include "autograd/tape.h"
#include "core/backend.h"
#include "core/error.h"
#include "core/platform/isa.h"
#include "tests/op_cases/op_case.h"

namespace poslab::test {
namespace {

// Numbers are compared as these words, so that NaN equals NaN, and the sign of zero does not matter.
std::string word(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return x == 0 ? "0" : "finite";
}

}  // namespace

TEST_CASE("elementwise: NaN, infinities and large numbers, in every lane and on every instruction set") {
  const double inf = INFINITY, nan = NAN, big = 3e38;
  const std::vector<double> x = {nan, inf, -inf, 0, -0.0, big, -big};
  const struct { const char* name; Tensor (*op)(const Tensor&); std::vector<double> expected; } functions[] = {
      {"exp", exp, {nan, inf, 0, 1, 1, inf, 0}},
      {"log", log, {nan, inf, nan, -inf, -inf, 88.6, nan}},
      {"tanh", tanh, {nan, 1, -1, 0, 0, 1, -1}},
      {"sigmoid", sigmoid, {nan, 1, 0, 0.5, 0.5, 1, 0}},
      {"softplus", softplus, {nan, inf, 0, 0.69314718, 0.69314718, big, 0}},
      {"relu", relu, {nan, inf, 0, 0, 0, big, 0}},
      {"silu", silu, {nan, inf, 0, 0, 0, big, 0}},
      {"gelu", gelu, {nan, inf, 0, 0, 0, big, 0}},
      {"gelu_tanh", gelu_tanh, {nan, inf, 0, 0, 0, big, 0}},
      {"cos", cos, {nan, nan, nan, 1, 1, std::cos(double(real(big))), std::cos(double(real(big)))}},
      {"sin", sin, {nan, nan, nan, 0, 0, std::sin(double(real(big))), -std::sin(double(real(big)))}},
      {"sqrt", sqrt, {nan, inf, nan, 0, 0, big, nan}},
  };
  const std::string before = isa();
  for (const std::string& set : available_isas()) {
    use_isa(set);
    for (const auto& f : functions) {
      const real of_one = f.op(Tensor::full({1}, 1)).item();
      for (size_t i = 0; i < x.size(); ++i)
        for (int lane = 0; lane < 33; ++lane) {
          Tensor v = Tensor::full({33}, 1);
          v.data()[lane] = real(x[i]);
          const Tensor y = f.op(v);
          const double value = double(y.data()[lane]);
          INFO(f.name << " of " << x[i] << " in lane " << lane << " on " << set);
          CHECK(word(value) == word(f.expected[i]));
          if (std::abs(f.expected[i]) <= 1) CHECK(value == doctest::Approx(f.expected[i]).epsilon(1e-6));
          CHECK(y.data()[(lane + 1) % 33] == of_one);   // the next lane is not affected
        }
    }
  }
  use_isa(before);
}

TEST_CASE("minimum, maximum, clamp, abs and where: NaN and infinities, and the gradient where two are equal") {
  const real inf = INFINITY, nan = NAN;
  const auto one = [](real x) { return Tensor::full({1}, x); };
  for (const auto op : {minimum, maximum}) {
    CHECK(std::isnan(op(one(nan), one(1)).item()));
    CHECK(std::isnan(op(one(1), one(nan)).item()));
  }
  CHECK(minimum(one(-inf), one(inf)).item() == -inf);
  CHECK(maximum(one(-inf), one(inf)).item() == inf);
  CHECK(std::isnan(clamp(one(nan), -1, 1).item()));
  CHECK(clamp(one(inf), -1, 1).item() == 1);
  CHECK(std::isnan(abs(one(nan)).item()));
  CHECK(abs(one(-inf)).item() == inf);
  CHECK(where(one(1), one(2), one(nan)).item() == 2);  // the NaN of the other argument does not spread
  CHECK(where(one(0), one(inf), one(3)).item() == 3);
  CHECK(pow(one(0), 0).item() == 1);
  CHECK(std::isnan(pow(one(-1), 0.5).item()));

  Tensor a = one(2).require_grad(), b = one(2).require_grad();
  for (const auto op : {minimum, maximum}) {
    a.clear_grad(), b.clear_grad();
    backward(op(a, b));
    CHECK(a.grad().item() == 1);
    CHECK(b.grad().item() == 0);
  }
  const auto slope = [&](const Tensor& y, Tensor& x) { return x.clear_grad(), backward(y), x.grad().item(); };
  CHECK(slope(clamp(a, 2, 3), a) == 1);
  CHECK(slope(clamp(a, 1, 2), a) == 1);
  Tensor zero = one(0).require_grad();
  CHECK(slope(abs(zero), zero) == 0);
  CHECK(slope(pow(zero, 2), zero) == 0);
  CHECK_THROWS_AS(clamp(a, 3, 2), BadInput);
}

TEST_CASE("elementwise: derivatives at large numbers are the limits") {
  const auto derivative = [](Tensor (*op)(const Tensor&), double at) {
    Tensor x = Tensor::full({5}, real(at));
    x.require_grad();
    backward(sum_all(op(x)));
    return double(x.grad().data()[4]);
  };
  for (const double far : {50., 1000., double(INFINITY)}) {
    CHECK(derivative(poslab::tanh, far) == 0);
    CHECK(derivative(poslab::sigmoid, far) == doctest::Approx(0).epsilon(1e-20));
    CHECK(derivative(poslab::softplus, far) == doctest::Approx(1));
    CHECK(derivative(poslab::softplus, -far) == doctest::Approx(0));
    CHECK(derivative(poslab::relu, far) == 1);
    CHECK(derivative(poslab::relu, -far) == 0);
    for (const auto op : {poslab::silu, poslab::gelu, poslab::gelu_tanh}) {
      CHECK(derivative(op, far) == doctest::Approx(1));
      CHECK(derivative(op, -far) == doctest::Approx(0).epsilon(1e-18));
    }
  }
  CHECK(std::isnan(derivative(poslab::tanh, NAN)));
  CHECK(std::isnan(derivative(poslab::softplus, NAN)));
}

#ifndef POSLAB_DOUBLE
TEST_CASE("elementwise: within a few units in the last place, over the whole range of float") {
  const auto worst = [](Tensor (*op)(const Tensor&), double (*reference)(double), const std::vector<float>& at) {
    const Tensor y = op(Tensor::from({int(at.size())}, at));
    double most = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      const double expected = reference(double(at[i])),
                   error = std::abs(double(y.data()[i]) - expected) / std::abs(expected);
      if (!(error <= most)) most = error;   // true even if the error is NaN
    }
    return most / 5.96e-8;   // in units of the distance between floats just below 1
  };
  std::vector<float> all, positive;
  for (double x = 1e-37; x < 85; x *= 1.0003) all.push_back(float(x)), all.push_back(float(-x));
  for (double x = 1e-44; x < 3e38; x *= 1.0007) positive.push_back(float(x));
  for (int i = -1000; i <= 1000; ++i) positive.push_back(1 + float(i) * 1e-6f);
  std::erase(positive, 1.f);
  std::vector<float> angles;   // covers changes of range reduction, and zeros of sine and cosine
  for (double x = 1e-37; x < 1e9; x *= 1.0007) angles.push_back(float(x)), angles.push_back(float(-x));
  for (int i = 1; i < 6000; ++i) angles.push_back(float(i * std::acos(0.)));
  const std::string before = isa();
  for (const std::string& set : available_isas()) {
    INFO("on " << set);
    use_isa(set);
    CHECK(worst(exp, [](double x) { return std::exp(x); }, all) < 5);
    CHECK(worst(log, [](double x) { return std::log(x); }, positive) < 5);
    CHECK(worst(tanh, [](double x) { return std::tanh(x); }, all) < 5);
    CHECK(worst(sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, all) < 8);
    CHECK(worst(silu, [](double x) { return x / (1 + std::exp(-x)); }, all) < 8);
    CHECK(worst(softplus, [](double x) { return std::max(x, 0.) + std::log1p(std::exp(-std::abs(x))); }, all) < 8);
    CHECK(worst(cos, [](double x) { return std::cos(x); }, angles) < 4);
    CHECK(worst(sin, [](double x) { return std::sin(x); }, angles) < 4);
  }
  use_isa(before);
}
#endif

TEST_CASE("dropout: the share of kept elements, and the mean, fit the rate") {
  for (const double rate : {0.1, 0.5, 0.9}) {
    const int n = 1 << 20;
    const Tensor y = dropout(Tensor::full({n}, 1), {real(rate), {1, 2, 3}});
    double kept = 0, sum = 0;
    for (const real v : y.values()) kept += v != 0, sum += double(v);
    const double deviation = std::sqrt(rate * (1 - rate) / n);
    CHECK(std::abs(kept / n - (1 - rate)) < 5 * deviation + 1. / 65536);
    CHECK(std::abs(sum / n - 1) < 5 * deviation / (1 - rate));
  }
}

TEST_CASE("dropout: a rate outside its range is refused, alone and within the norm of a residual sum") {
  const Tensor x = Tensor::full({2, 4}, 1), gain = Tensor::full({4}, 1);
  for (const real rate : {real(1), real(10), real(-0.1), std::numeric_limits<real>::quiet_NaN()}) {
    const Dropout drop{rate, stream(1, Purpose::dropout, 0)};
    for (const auto& op : {std::function<void()>([&] { dropout(x, drop); }),
                           {[&] { residual_norm(x, x, gain, gain, drop); }},
                           {[&] { residual_rms_norm(x, x, gain, 1e-6, drop); }}})
      CHECK_THROWS_WITH_AS(op(), doctest::Contains("; give a number from 0 to 0.999"), BadInput);
  }
}

TEST_CASE("softmax, max and cross_entropy: infinities and NaN") {
  const real inf = INFINITY, nan = NAN;
  const Tensor masked = softmax(Tensor::from<real>({2, 3}, {0, -inf, 0, 500, 500, -inf}));
  CHECK(masked.values() == std::vector<real>{0.5, 0, 0.5, 0.5, 0.5, 0});
  for (int lane = 0; lane < 33; ++lane) {
    Tensor x = Tensor::full({33}, -1);
    x.data()[lane] = nan;
    CHECK(std::isnan(max(x).item()));
    CHECK(std::isnan(softmax(x).data()[0]));
    CHECK(std::isnan(cross_entropy(x.reshape({1, 33}), Ids({1}, {5})).item()));
    x.data()[lane] = inf;
    CHECK(max(x).item() == inf);
    x.data()[lane] = -inf;
    CHECK(max(x).item() == -1);
  }
  CHECK(max(Tensor::full({20}, -inf)).item() == -inf);
  CHECK(cross_entropy(Tensor::from<real>({1, 2}, {0, -inf}), Ids({1}, {1})).item() == inf);
}

TEST_CASE("attention: a query whose keys are all hidden by a bias of -infinity has result 0 and gradient 0") {
  const int T = 20, H = 2;
  const std::string before = isa();
  for (int n = 0; n < 2 * int(available_isas().size()); ++n) {
    const std::string set = available_isas()[size_t(n / 2)];
    const int D = n % 2 ? 8 : 4;  // heads of 8 channels have their own kernel
    use_isa(set);
    CAPTURE(set);
    CAPTURE(D);
    Tensor q = Tensor::full({1, T, H, D}, 0.5), v = Tensor::full({1, T, H, D}, 2);
    q.require_grad(), v.require_grad();
    std::vector<double> bias;  // for distances -(T-1) .. T-1: a query's own key and the later ones are hidden
    for (int d = 1 - T; d < T; ++d)
      for (int h = 0; h < H; ++h) bias.push_back(d > 0 || h == 1 ? -INFINITY : 0);
    Scores s;
    s.pieces = {{q, q}}, s.bias = Tensor::from({2 * T - 1, H}, bias);
    for (double& b : bias) b = -INFINITY;
    Scores hidden = s;
    hidden.bias = Tensor::from({2 * T - 1, H}, bias);
    const Tensor o = attention(s, v, {}), none = attention(hidden, v, {}), a = attention_weights(hidden, {});
    for (int i = 0; i < T; ++i)
      for (int h = 0; h < H; ++h) {
        CHECK(double(o.data()[(i * H + h) * D]) == doctest::Approx(h == 0 ? 2 : 0));
        CHECK(none.data()[(i * H + h) * D] == 0);
      }
    for (const real x : a.values()) CHECK(x == 0);
    backward(sum_all(o + none));
    for (const Tensor& t : {q, v})
      for (const real x : t.grad().values()) CHECK(std::isfinite(x));
  }
  use_isa(before);
}

#ifndef POSLAB_DOUBLE
TEST_CASE("attention: a query whose products are all -infinity has result 0 and gradient 0, in fp32 and in bf16") {
  for (const Rounding how : {Rounding::fp32, Rounding::bf16}) {
    const MatmulPrecision as(Device::cpu, how);
    const Tensor k = Tensor::full({1, 20, 1, 8}, 1e30);
    Tensor q = Tensor::full({1, 20, 1, 8}, -1e30), v = Tensor::full({1, 20, 1, 8}, 2);
    q.require_grad(), v.require_grad();
    const Tensor o = attention({.pieces = {{q, k}}}, v, {});
    CHECK(o.values() == std::vector<real>(160, 0));
    backward(sum_all(o));
    for (const Tensor& t : {q, v}) CHECK(t.grad().values() == std::vector<real>(160, 0));
  }
}
#endif

TEST_CASE("top_k: of equal numbers the leftmost first, NaN before all others, infinities; on every instruction set") {
  const real inf = INFINITY, nan = NAN;
  const std::string before = isa();
  for (const std::string& set : available_isas()) {
    use_isa(set);
    std::vector<real> row(70, -inf);
    row[3] = 2, row[40] = 7, row[50] = 7, row[69] = nan, row[68] = inf;
    const TopK top = top_k(Tensor::from({1, 70}, row), 6);
    CHECK(top.columns.values() == std::vector<real>{69, 68, 40, 50, 3, 0});
    CHECK(std::isnan(top.values.data()[0]));
    CHECK(std::vector(top.values.data() + 1, top.values.data() + 6) == std::vector<real>{inf, 7, 7, 2, -inf});
    CHECK(top_k(Tensor::full({2, 40}, nan), 2).columns.values() == std::vector<real>{0, 1, 0, 1});
  }
  use_isa(before);
}

TEST_CASE("interpolate: beyond the ends, at an entry, and NaN, on every instruction set") {
  const real inf = INFINITY, nan = NAN;
  const std::string before = isa();
  for (const std::string& set : available_isas()) {
    use_isa(set);
    const Tensor t = Tensor::from<int>({1, 3}, {5, 7, 11});
    const Tensor p = Tensor::from<real>({1, 7}, {-inf, -1, 0, 1, 1.5, 2, inf});
    CHECK(interpolate(t, p).values() == std::vector<real>{5, 5, 5, 7, 9, 11, 11});
    CHECK(std::isnan(interpolate(t, Tensor::full({1, 1}, nan)).item()));
    CHECK(std::isnan(interpolate(Tensor::full({1, 1}, 3), Tensor::full({1, 1}, nan)).item()));
    // a place that is NaN or -infinity, as for a masked slot, has no gradient; beyond the last entry the gradient is 0
    Tensor table = Tensor::from<int>({3, 3}, {5, 7, 11, 5, 7, 11, 5, 7, 11});
    table.require_grad();
    backward(sum((interpolate(table, Tensor::from<real>({3, 2}, {0.5, 2, 0.5, 2, 0.5, nan})) *
                  Tensor::from<int>({3, 2}, {0, 0, 4, 0, 0, 0}))
                     .reshape({6}),
                 0));
    const std::vector<real> slopes = table.grad().values();
    CHECK(std::vector(slopes.begin(), slopes.begin() + 6) == std::vector<real>{0, 0, 0, 2, 2, 0});
    CHECK(std::isnan(slopes[6]));
  }
  use_isa(before);
}

TEST_CASE("scan: an infinity stays in its sum and the later ones; an exclusive sum omits its own element") {
  const real inf = INFINITY;
  const Tensor x = Tensor::from<real>({4}, {1, inf, 2, 3});
  CHECK(scan(x, 0).values() == std::vector<real>{1, inf, inf, inf});
  CHECK(scan(x, 0, {.exclusive = true}).values() == std::vector<real>{0, 1, inf, inf});
  CHECK(scan(x, 0, {.reverse = true}).values() == std::vector<real>{inf, inf, 5, 3});
}

TEST_CASE(
    "geometric: logarithms give weights where products underflow; a certain key takes all; infinities and NaN") {
  const real inf = INFINITY, nan = NAN;
  const Tensor none = Tensor::full({1, 2}, 0);
  const auto last_row = [&](std::vector<real> z) {
    // keys are visited in the order 2, 1, 0
    return geometric(Tensor::from<real>({1, int(z.size())}, z), none, {.offset = int(z.size()) - 1}).values();
  };
  const std::vector<real> small = last_row({-1000, -1001, -1002, 5});          // P = e^z, and 1 - P = 1: a softmax
  const double e = std::exp(-1.), sum = 1 + e + e * e;
  CHECK(double(small[0]) == doctest::Approx(1 / sum).epsilon(1e-6));
  CHECK(double(small[1]) == doctest::Approx(e / sum).epsilon(1e-6));
  CHECK(double(small[2]) == doctest::Approx(e * e / sum).epsilon(1e-6));
  const auto composed_row = [&](const std::vector<real>& z) {
    const Tensor x = Tensor::from<real>({1, 1, 1, int(z.size())}, z);
    return composed::geometric(x, none.reshape({1, 1, 1, 2}), {.offset = int(z.size()) - 1}).values();
  };
  const std::vector<real> twin = composed_row({-1000, -1001, -1002, 5});
  for (size_t j = 0; j < 4; ++j) CHECK(double(twin[j]) == doctest::Approx(double(small[j])).epsilon(1e-4));
  CHECK(last_row({3, -2000, 1000, 0}) == std::vector<real>{0, 0, 1, 0});
  CHECK(last_row({1000, -1000, -1000, 0}) == std::vector<real>{1, 0, 0, 0});
  CHECK(last_row({3, 4, inf, 0}) == std::vector<real>{0, 0, 1, 0});
  CHECK(last_row({inf, -inf, -inf, 0}) == std::vector<real>{1, 0, 0, 0});
  CHECK(last_row({nan}) == std::vector<real>{0});                              // a slot does not visit itself
  CHECK(std::isnan(last_row({0, nan, 0, 0})[0]));

  Tensor z = Tensor::from<real>({1, 4}, {1000, -1000, -2000, nan}), side = Tensor::full({1, 2}, 0);
  z.require_grad(), side.require_grad();
  backward(sum_all(slice(geometric(z, side, {.offset = 3}), 1, 0, 3) * Tensor::from<real>({1, 3}, {1, 2, 3})));
  CHECK(z.grad().values() == std::vector<real>(4, 0));                         // a certain choice has no gradient
  CHECK(side.grad().values() == std::vector<real>(2, 0));
}

}  // namespace poslab::test
