// What a few seeds say, by Student, by turning signs over, and after Holm. References: scipy 1.17.1 of the values
// below, stats.t.interval(.95, n - 1, mean, sem), permutation_test(permutation_type="samples",
// n_resamples=inf), whose interval is where that p passes 0.05; Holm by its definition in NumPy.
#include <doctest/doctest.h>

#include "core/random.h"
#include "lab/files/statistics.h"

using namespace poslab;

namespace {

const std::vector<double> ten = {0.12, -0.03, 0.25, 0.07, 0.18, 0.02, 0.31, -0.05, 0.11, 0.09};
std::vector<double> first(size_t n) { return {ten.begin(), ten.begin() + long(n)}; }

void is(const Interval& i, double low, double high) {
  CHECK(i.low == doctest::Approx(low).epsilon(1e-9));
  CHECK(i.high == doctest::Approx(high).epsilon(1e-9));
}

}  // namespace

TEST_CASE("statistics: the t interval is scipy's") {
  is(t_interval(first(3)), -0.2347415513626545, 0.4614082180293212);
  is(t_interval(first(6)), -0.006870889902000923, 0.21020422323533428);
  is(t_interval(ten), 0.02446311894752351, 0.1895368810524765);
  is(t_interval({-1, 1}), -12.706204736174694, 12.706204736174694);
  CHECK(std::isnan(t_interval({1}).low));
}

TEST_CASE("statistics: turning signs over has scipy's p, and the interval that this p leaves") {
  CHECK(permutation_test(first(3)) == 0.5);
  CHECK(permutation_test(first(6)) == 0.09375);
  CHECK(permutation_test(ten) == 0.015625);
  is(permutation_interval(first(6)), -0.03, 0.25);
  is(permutation_interval(ten), 0.025, 0.19);
  CHECK(std::isnan(permutation_interval(first(5)).low));
  CHECK(std::isnan(permutation_interval({}).low));
  CHECK(std::isnan(permutation_test({})));
}

TEST_CASE("statistics: with three seeds Student's interval and the flipped signs are wrong as rarely as they say") {
  Rng rng(stream(5, Purpose::tokens, 0));
  constexpr int cells = 4000;
  int student = 0, turned = 0, many = 0;
  for (int i = 0; i < cells; ++i) {
    std::vector<double> x;
    for (int k = 0; k < 8; ++k) x.push_back(rng.normal());
    const std::vector<double> three(x.begin(), x.begin() + 3);
    student += t_interval(three).excludes(0);
    turned += permutation_test(three) < 0.05, many += permutation_interval(x).excludes(0);
  }
  CHECK(std::abs(double(student) / cells - 0.05) < 0.01);
  CHECK(turned == 0);  // never less than 2 / 2^3
  CHECK(std::abs(double(many) / cells - 12. / 256) < 0.01);
}

TEST_CASE("statistics: the bootstrap's interval leaves out as much below as above") {
  std::vector<double> x, turned;
  Rng rng(stream(7, Purpose::tokens, 0));
  for (int i = 0; i < 20; ++i) x.push_back(rng.normal()), turned.push_back(-x.back());
  CHECK(bootstrap(turned).low == -bootstrap(x).high);
  CHECK(bootstrap(turned).high == -bootstrap(x).low);
}

TEST_CASE("statistics: of many values some subsets are drawn") {
  std::vector<double> x;
  Rng rng(stream(6, Purpose::tokens, 0));
  for (int i = 0; i < 30; ++i) x.push_back(0.3 + rng.normal());
  const Interval some = permutation_interval(x), t = t_interval(x);
  CHECK(some.low == doctest::Approx(t.low).epsilon(0.1));
  CHECK(some.high == doctest::Approx(t.high).epsilon(0.1));
}

TEST_CASE("statistics: Holm over a family") {
  const std::vector<double> p = holm({0.01, 0.04, 0.03, 0.005, 0.5}), expected = {0.04, 0.09, 0.09, 0.025, 0.5};
  for (size_t i = 0; i < p.size(); ++i) CHECK(p[i] == doctest::Approx(expected[i]));
  CHECK(holm({0.5, 0.9}) == std::vector<double>{1, 1});
  CHECK(holm({}).empty());
}

TEST_CASE("statistics: the median") {
  CHECK(median(ten) == doctest::Approx(0.1));
  CHECK(median(first(3)) == doctest::Approx(0.12));
  CHECK(std::isnan(median({})));
}
