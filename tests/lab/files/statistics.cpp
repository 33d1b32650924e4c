// Statistics of a few seeds: the bootstrap's interval, and the median.
#include <doctest/doctest.h>

#include "core/random.h"
#include "lab/files/statistics.h"

using namespace poslab;

namespace {

const std::vector<double> ten = {0.12, -0.03, 0.25, 0.07, 0.18, 0.02, 0.31, -0.05, 0.11, 0.09};
std::vector<double> first(size_t n) { return {ten.begin(), ten.begin() + long(n)}; }

}  // namespace

TEST_CASE("statistics: the bootstrap's interval leaves out as much below as above") {
  std::vector<double> x, turned;
  Rng rng(stream(7, Purpose::tokens, 0));
  for (int i = 0; i < 20; ++i) x.push_back(rng.normal()), turned.push_back(-x.back());
  CHECK(bootstrap(turned).low == -bootstrap(x).high);
  CHECK(bootstrap(turned).high == -bootstrap(x).low);
}

TEST_CASE("statistics: the median") {
  CHECK(median(ten) == doctest::Approx(0.1));
  CHECK(median(first(3)) == doctest::Approx(0.12));
  CHECK(std::isnan(median({})));
}
