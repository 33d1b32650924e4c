// Statistics of a few seeds: the bootstrap's interval.
#include "lab/files/statistics.h"

#include <doctest/doctest.h>

#include "core/random.h"

using namespace poslab;

TEST_CASE("statistics: the bootstrap's interval leaves out equal shares on both sides") {
  std::vector<double> x, turned;
  Rng rng(stream(7, Purpose::tokens, 0));
  for (int i = 0; i < 20; ++i) x.push_back(rng.normal()), turned.push_back(-x.back());
  CHECK(bootstrap(turned).low == -bootstrap(x).high);
  CHECK(bootstrap(turned).high == -bootstrap(x).low);
}
