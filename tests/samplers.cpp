// The law of the samplers (spec A.7, family 9), when they draw, and what they refuse.
#include <doctest/doctest.h>

#include <map>

#include "core/error.h"
#include "encodings/positions.h"

using namespace poslab;

namespace {

using Numbers = std::vector<double>;
constexpr int draws = 20000;

// "randomized:max_position=6"
Positions sample(const std::string& spelled, int sequences, int time, uint32_t step) {
  Rng rng(stream(1, Purpose::positions, step));
  const Chosen<Sampler> sampler = choose_sampler(spelled);
  return sampler->sample(sampler.choices, sequences, time, rng);
}

// sum over cells of (seen - expected)^2 / expected, for `cells` equally likely outcomes and no others.
double chi_square(const std::map<Numbers, int>& seen, int cells, double total) {
  CHECK(int(seen.size()) <= cells);
  const double expected = total / cells;
  double sum = (cells - double(seen.size())) * expected;
  for (const auto& [outcome, n] : seen) sum += (n - expected) * (n - expected) / expected;
  return sum;
}
// Chance of more: about 1e-6 (normal approximation of chi-square with cells - 1 degrees of freedom, cube-root form).
double limit(int cells) {
  const double n = cells - 1, z = 4.75;
  return n * std::pow(1 - 2 / (9 * n) + z * std::sqrt(2 / (9 * n)), 3);
}

}  // namespace

TEST_CASE("randomized: all C(6, 3) = 20 subsets are equally frequent, sorted, from 0 or from 1") {
  for (int first : {0, 1}) {
    std::map<Numbers, int> seen;
    for (uint32_t n = 0; n < draws; ++n)
      ++seen[sample(fmt::format("randomized:max_position=6,first={}", first), 1, 3, n).tokens("test")];
    for (const auto& [p, count] : seen) {
      CHECK(std::is_sorted(p.begin(), p.end()));
      CHECK((p.front() >= first && p.back() < 6 + first));
    }
    CHECK(seen.size() == 20);
    CHECK(chi_square(seen, 20, draws) < limit(20));
  }
}

TEST_CASE("randomized, unsorted: all 5 4 3 = 60 orderings are equally frequent") {
  std::map<Numbers, int> seen;
  for (uint32_t n = 0; n < draws; ++n) ++seen[sample("randomized:max_position=5,unsorted", 1, 3, n).tokens("test")];
  CHECK(seen.size() == 60);
  CHECK(chi_square(seen, 60, draws) < limit(60));
}

TEST_CASE("randomized, per sequence: each sequence has the same law, and two are independent") {
  std::map<Numbers, int> second, both;
  for (uint32_t n = 0; n < draws; ++n) {
    const Numbers p = sample("randomized:max_position=4", 2, 2, n).tokens("test");
    ++second[{p[2], p[3]}], ++both[p];
  }
  CHECK(chi_square(second, 6, draws) < limit(6));
  CHECK(chi_square(both, 36, draws) < limit(36));
}

TEST_CASE("randomized: the mean of the i-th of n positions of 1..N is i (N+1) / (n+1)") {
  const int N = 50, n = 5;
  Numbers mean(n, 0);
  for (uint32_t d = 0; d < draws; ++d) {
    const Numbers p = sample(fmt::format("randomized:max_position={},first=1", N), 1, n, d).tokens("test");
    for (int i = 0; i < n; ++i) mean[size_t(i)] += p[size_t(i)] / draws;
  }
  for (int i = 1; i <= n; ++i) {
    const double variance = double(i) * (n + 1 - i) * (N + 1) * (N - n) / ((n + 1.) * (n + 1.) * (n + 2.));
    CHECK(std::abs(mean[size_t(i - 1)] - i * (N + 1.) / (n + 1)) < 5 * std::sqrt(variance / draws));
  }
}

TEST_CASE("randomized_offsets: all C(5, 2) right halves are equally frequent, the left mirrors them, the middle is 0") {
  std::map<Numbers, int> seen;
  for (uint32_t n = 0; n < draws; ++n) {
    const Positions p = sample("randomized_offsets:max_position=6", 1, 3, n);
    const Numbers& r = p.distances().value;
    REQUIRE(r.size() == 5);
    CHECK_FALSE(p.distances().pairs);
    CHECK((r[2] == 0 && r[0] == -r[4] && r[1] == -r[3] && r[3] < r[4] && r[3] >= 1 && r[4] <= 5));
    ++seen[{r[3], r[4]}];
  }
  CHECK(seen.size() == 10);
  CHECK(chi_square(seen, 10, draws) < limit(10));
}

TEST_CASE("randomized_offsets, unsorted: the right half is in any order, and the left still mirrors it") {
  int descending = 0;
  for (uint32_t n = 0; n < 100; ++n) {
    const Numbers r = sample("randomized_offsets:max_position=6,unsorted", 1, 3, n).distances().value;
    CHECK((r[0] == -r[4] && r[1] == -r[3]));
    descending += r[3] > r[4];
  }
  CHECK((descending > 25 && descending < 75));
}

TEST_CASE("sequential counts, evenly_spread reaches both ends of the pool") {
  CHECK(sample("sequential", 2, 5, 0).tokens("test") == Numbers{0, 1, 2, 3, 4});
  CHECK(sample("sequential:first=1", 1, 2, 0).tokens("test") == Numbers{1, 2});
  CHECK(sample("evenly_spread:max_position=11", 1, 5, 0).tokens("test") == Numbers{0, 2.5, 5, 7.5, 10});
  CHECK(sample("evenly_spread:max_position=11,first=1", 1, 1, 0).tokens("test") == Numbers{1});
}

TEST_CASE("a draw: once for all layers, once for each layer, or once for each sequence") {
  const Chosen<Sampler> randomized = choose_sampler("randomized");
  const Stream s = stream(3, Purpose::positions, 9);
  const PositionSample forward(randomized, Resample::per_forward, s, 4, 40);
  CHECK(&forward.at_layer(0) == &forward.at_layer(3));
  CHECK(forward.at_embedding().sequences() == 1);
  const PositionSample layer(randomized, Resample::per_layer, s, 4, 40);
  CHECK(layer.at_layer(1).tokens("test") != layer.at_layer(2).tokens("test"));
  CHECK(layer.at_layer(0).tokens("test") == forward.at_layer(0).tokens("test"));
  const PositionSample sequence(randomized, Resample::per_sequence, s, 4, 40);
  CHECK(&sequence.at_layer(0) == &sequence.at_layer(3));
  CHECK(sequence.at_layer(0).sequences() == 4);
  const Numbers& p = sequence.at_layer(0).tokens("test");
  for (int n = 1; n < 4; ++n) CHECK_FALSE(std::equal(p.begin(), p.begin() + 40, p.begin() + 40 * n));
  const PositionSample again(randomized, Resample::per_layer, s, 4, 40);   // asked for in another order
  CHECK(again.at_layer(2).tokens("test") == layer.at_layer(2).tokens("test"));
  for (Resample how : {Resample::per_layer, Resample::per_sequence}) {   // nothing is random: one for all
    const PositionSample plain(choose_sampler("sequential"), how, s, 4, 40);
    CHECK(&plain.at_layer(0) == &plain.at_layer(2));
    CHECK(plain.at_layer(0).sequences() == 1);
  }
}

TEST_CASE("a composition of samplers: the layers' own, in turn, for as many slots as the smallest pool has") {
  const Chosen<Sampler> both = choose_sampler("randomized:max_position=50|sequential|evenly_spread:max_position=60");
  CHECK(both.spelled() == "randomized:max_position=50|sequential|evenly_spread:max_position=60");
  CHECK(pool_of(both) == 50);
  for (Resample how : {Resample::per_forward, Resample::per_layer, Resample::per_sequence}) {
    const PositionSample p(both, how, stream(3, Purpose::positions, 9), 4, 5);
    CHECK(p.at_layer(1).tokens("test") == Numbers{0, 1, 2, 3, 4});
    CHECK(p.at_layer(2).tokens("test") == Numbers{0, 14.75, 29.5, 44.25, 59});
    CHECK(&p.at_layer(1) == &p.at_layer(4));
    CHECK((p.at_layer(0).tokens("test") == p.at_layer(3).tokens("test")) == (how != Resample::per_layer));
    CHECK(p.at_layer(0).sequences() == (how == Resample::per_sequence ? 4 : 1));
  }
  CHECK_THROWS_AS(choose_sampler("randomized|"), BadInput);
}

TEST_CASE("samplers refuse what the pool cannot give, and say what to do") {
  for (const std::string& name : names_of(all_samplers())) {
    CAPTURE(name);
    const Chosen<Sampler> s = choose_sampler(name, {{"max_position", "8"}});
    Rng rng(stream(1, Purpose::positions, 0));
    const auto draw = [&](int sequences, int time) { return s->sample(s.choices, sequences, time, rng); };
    CHECK_THROWS_AS(draw(1, 0), BadInput);
    CHECK_THROWS_AS(draw(0, 3), BadInput);
    CHECK(draw(1, 8).time() == 8);
    if (pool_of(s) > 8)
      CHECK(draw(1, 9).time() == 9);   // no pool: it counts on
    else
      CHECK_THROWS_WITH_AS(draw(1, 9),
                           (name + ": 9 slots (input and output) but only 8 positions; raise max_position").c_str(),
                           BadInput);
  }
  CHECK_THROWS_WITH_AS(choose_sampler("randomised"),
                       "unknown sampler \"randomised\"; did you mean \"randomized\"? Known: sequential, randomized, "
                       "randomized_offsets, evenly_spread", BadInput);
}
