// The distributions of the samplers (spec A.7, family 9). Draws in models, and refusals: tests/experiment/samplers.cpp.
#include "encodings/samplers.h"

#include <doctest/doctest.h>

#include <map>

#include "core/error.h"
#include "tests/support/sampled.h"
#include "tests/support/statistics.h"

using namespace poslab;
using namespace poslab::testing;

namespace {

constexpr int draws = 20000;

using Law = std::map<Numbers, double>;
// Compares many draws with the probability of each outcome.
void check_law(const std::string& spelled, int time, const Law& law) {
  CAPTURE(spelled);
  double all = 0;
  for (const auto& [p, probability] : law) all += probability;
  CHECK(all == doctest::Approx(1));
  std::map<Numbers, int> seen;
  for (uint32_t n = 0; n < draws; ++n) ++seen[one(spelled, time, n)];
  CHECK(surprise(law, seen, draws) < one_in_a_million);
}
// All increasing sequences of `time` positions out of low .. low + pool - 1, by recursion.
void subsets(int time, int low, int pool, Numbers begun, std::vector<Numbers>& all) {
  if (time == 0) return all.push_back(begun);
  for (int p = 0; p + time <= pool; ++p) {
    Numbers next = begun;
    next.push_back(low + p);
    subsets(time - 1, low + p + 1, pool - p - 1, next, all);
  }
}
std::vector<Numbers> subsets(int time, int low, int pool) {
  std::vector<Numbers> all;
  subsets(time, low, pool, {}, all);
  return all;
}

// sum over cells of (seen - expected)^2 / expected, for `cells` equally likely outcomes; another outcome is an error.
double chi_square(const std::map<Numbers, int>& seen, int cells, double total) {
  CHECK(int(seen.size()) <= cells);
  const double expected = total / cells;
  double sum = (cells - double(seen.size())) * expected;
  for (const auto& [outcome, n] : seen) sum += (n - expected) * (n - expected) / expected;
  return sum;
}
// A larger sum has probability about 1e-6 (chi-square with cells - 1 degrees, Wilson-Hilferty's normal approximation).
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

TEST_CASE("randomized, per sequence: each sequence has the same distribution, and two are independent") {
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

TEST_CASE("randomized_offsets: all C(5, 2) right halves are equally frequent, the left is their mirror, the middle 0") {
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

TEST_CASE("sequential counts slots, evenly_spread reaches both ends of the pool") {
  CHECK(sample("sequential", 2, 5, 0).tokens("test") == Numbers{0, 1, 2, 3, 4});
  CHECK(sample("sequential:first=1", 1, 2, 0).tokens("test") == Numbers{1, 2});
  CHECK(sample("evenly_spread:max_position=11", 1, 5, 0).tokens("test") == Numbers{0, 2.5, 5, 7.5, 10});
  CHECK(sample("evenly_spread:max_position=11,first=1", 1, 1, 0).tokens("test") == Numbers{1});
  for (int T = 2; T <= 500; ++T) {  // i (N-1) / (T-1) is rounded, and a table ends at N-1
    CHECK(one("evenly_spread", T).back() == 2047);
    CHECK(one("evenly_spread:first=1", T).back() == 2048);
    CHECK(one("interpolated:trained=80", T).back() == std::min(T, 80) - 1);
  }
}

TEST_CASE("samplers without randomness: their formulas") {
  CHECK(one("stretched:gap=2.5", 4) == Numbers{0, 2.5, 5, 7.5});
  CHECK(one("stretched:gap=0.5,first=1", 3) == Numbers{1, 1.5, 2});
  CHECK(one("stretched:gap=1", 5) == one("sequential", 5));
  CHECK(one("interpolated:trained=5", 5) == one("sequential", 5));
  CHECK(one("interpolated:trained=5", 9) == Numbers{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4});
  CHECK(one("clipped:limit=2", 5) == Numbers{0, 1, 2, 2, 2});
  CHECK(one("clipped:limit=2", 3) == one("sequential", 3));
  CHECK(one("given:at=0 -2.5  1e3", 2) == Numbers{0, -2.5});
  CHECK_THROWS_WITH_AS(one("given:at=0 nan", 1), "position 2 = nan is out of range; it takes -1e9 .. 1e9", BadInput);
  CHECK_THROWS_WITH_AS(one("given:at=0 one", 1), "position 2 = \"one\" is not a number; it takes -1e9 .. 1e9",
                       BadInput);
  // golden values of the published rule for a training length of 40
  const std::string midpoints = "float_midpoints:trained=40,range=1";
  const Numbers few = one(midpoints, 4), many = one(midpoints, 100);
  const Numbers golden{.0125, .0375, .0625, .0875};
  for (size_t i = 0; i < 4; ++i) CHECK(few[i] == doctest::Approx(golden[i]).epsilon(1e-12));
  CHECK(many.front() == doctest::Approx(.005).epsilon(1e-12));
  CHECK(many.back() == doctest::Approx(.995).epsilon(1e-12));
}

TEST_CASE("scattered: a uniform subset of a pool whose size gives the requested mean gap") {
  Law law;   // (5 + 1) / (2 + 1) = 2
  for (const Numbers& p : subsets(2, 1, 5)) law[p] = 1 / 10.;
  check_law("scattered:gap=2,first=1", 2, law);
  CHECK(one("scattered:gap=1", 7, 3) == count_from(0, 7));
  for (const int T : {10, 50}) {
    double gap = 0, square = 0;
    for (uint32_t n = 0; n < 4000; ++n) {
      const Numbers p = one("scattered:gap=3.8", T, n);
      const double mean = (p.back() - p.front()) / (T - 1);
      gap += mean / 4000, square += mean * mean / 4000;
    }
    CHECK(std::abs(gap - 3.8) < 0.5 / (T + 1) * 3 + 5 * std::sqrt((square - gap * gap) / 4000));   // N is whole
  }
  CHECK_THROWS_WITH_AS(sample("scattered:gap=4096", 1, 5000, 0),
                       "scattered: 5000 slots at a mean gap of 4096 need a pool of 20484095 positions; it has at most "
                       "16777216; choose a smaller gap", BadInput);
}

TEST_CASE("log_density: the pool's part has a log-uniform size, its start is uniform, its subsets are equally likely") {
  const int N = 5, T = 2;
  Law law;
  for (int part = T; part <= N; ++part)
    for (int shift = 0; shift <= N - part; ++shift)
      for (const Numbers& p : subsets(T, shift, part))
        law[p] += std::log((part + 1.) / part) / std::log((N + 1.) / T) / (N - part + 1) * 2 / (part * (part - 1));
  check_law("log_density:max_position=5", T, law);
  CHECK(one("log_density:max_position=6", 6, 2) == count_from(0, 6));
  // P(two neighbours are 1 apart) = T / N' if the part has N' positions, averaged over N'
  const int big = 200, slots = 8;
  double expected = 0, seen = 0;
  for (int part = slots; part <= big; ++part)
    expected += std::log((part + 1.) / part) / std::log((big + 1.) / slots) * slots / part;
  for (uint32_t n = 0; n < draws; ++n) {
    const Numbers p = one("log_density:max_position=200", slots, n);
    seen += (p[4] - p[3] == 1) / double(draws);
  }
  CHECK(std::abs(seen - expected) < 5 * std::sqrt(expected * (1 - expected) / draws));
}

TEST_CASE("blocks: runs of neighbours anywhere in the pool; runs of one slot are a uniform subset") {
  Law uniform;
  for (const Numbers& p : subsets(3, 0, 6)) uniform[p] = 1 / 20.;
  check_law("blocks:max_position=6,block=1", 3, uniform);
  Law law;   // 4 slots in runs of 2 (1 + 2 + 1 or 2 + 2), every placement of the runs equally likely
  const int N = 6;
  std::vector<Numbers> three, two;
  for (int a = 0; a < N; ++a)
    for (int b = a + 1; b < N; ++b)
      for (int c = b + 2; c < N; ++c) three.push_back({double(a), double(b), b + 1., double(c)});
  for (int a = 0; a < N; ++a)
    for (int b = a + 2; b + 1 < N; ++b) two.push_back({double(a), a + 1., double(b), b + 1.});
  for (const Numbers& p : three) law[p] += 0.5 / double(three.size());
  for (const Numbers& p : two) law[p] += 0.5 / double(two.size());
  check_law("blocks:max_position=6,block=2", 4, law);
  CHECK(one("blocks:max_position=9,block=4", 9, 1) == count_from(0, 9));
}

TEST_CASE("contiguous: any start in the pool, or up to max_shift; pose: the two runs of the released code") {
  Law law;
  for (int k = 0; k <= 3; ++k) law[count_from(k + 1, 3)] = 1 / 4.;
  check_law("contiguous:max_position=6,first=1", 3, law);
  check_law("contiguous:max_position=6,max_shift=1", 3, {{{0, 1, 2}, 0.5}, {{1, 2, 3}, 0.5}});
  CHECK(one("contiguous:max_position=3", 3, 4) == one("sequential", 3));

  const int N = 7, T = 4;
  Law fixed, shifted;
  for (int length = 1; length <= 2; ++length)
    for (int shift = 0; shift <= N - T; ++shift)
      for (int skip = shift; skip <= N - T; ++skip) {
        Numbers p = count_from(0, T);
        for (int i = 0; i < T; ++i) p[size_t(i)] += i < length ? shift : skip;
        if (shift == 0) fixed[p] += 1 / 2. / (N - T + 1);
        shifted[p] += 1 / 2. / (N - T + 1) / (N - T - shift + 1);
      }
  check_law("pose:max_position=7", T, fixed);
  check_law("pose:max_position=7,shifted", T, shifted);
  CHECK(one("pose:max_position=4", 4, 4) == one("sequential", 4));
  CHECK(one("pose:max_position=1", 1) == Numbers{0});
}

TEST_CASE("cape: shift and jitter are uniform, the scale log-uniform, and the order is kept") {
  const std::string still = "cape:global=0,local=0,scale=1";
  CHECK(one(still, 4) == Numbers{-1.5, -0.5, 0.5, 1.5});
  CHECK(one(still + ",centred=off", 3) == Numbers{0, 1, 2});
  // ten cells, each a tenth of the range
  const auto uniform = [](const std::string& spelled, int T, const std::function<double(const Numbers&)>& where) {
    CAPTURE(spelled);
    std::map<int, double> law;
    std::map<int, int> seen;
    for (int cell = 0; cell < 10; ++cell) law[cell] = 0.1;
    for (uint32_t n = 0; n < draws; ++n) ++seen[int(std::floor(10 * where(one(spelled, T, n))))];
    CHECK(surprise(law, seen, draws) < one_in_a_million);
  };
  uniform("cape:local=0,scale=1", 3, [](const Numbers& p) { return (p[1] + 5) / 10; });
  uniform("cape:global=0,scale=1", 3, [](const Numbers& p) { return p[0] + 1 + 0.5; });
  uniform("cape:global=0,local=0,scale=4", 2, [](const Numbers& p) { return std::log(2 * p[1]) / std::log(16) + 0.5; });
  for (uint32_t n = 0; n < 1000; ++n) {
    const Numbers p = one("cape", 20, n);
    CHECK(std::is_sorted(p.begin(), p.end()));
  }
  CHECK_THROWS_AS(choose_sampler("cape:local=0.6"), BadInput);
}

TEST_CASE("random_floats: sorted, and the i-th of n has the mean range i / (n + 1)") {
  const int n = 4;
  Numbers mean(n, 0);
  for (uint32_t d = 0; d < draws; ++d) {
    const Numbers p = one("random_floats:range=10", n, d);
    CHECK((p.front() >= 0 && p.back() < 10 && std::is_sorted(p.begin(), p.end())));
    for (size_t i = 0; i < n; ++i) mean[i] += p[i] / draws;
  }
  for (int i = 1; i <= n; ++i) {
    const double sd = 10 * std::sqrt(i * (n + 1. - i) / ((n + 1.) * (n + 1.) * (n + 2.)));
    CHECK(std::abs(mean[size_t(i - 1)] - 10. * i / (n + 1)) < 5 * sd / std::sqrt(double(draws)));
  }
}

TEST_CASE("every sampler: the stream decides, random ones differ by sequence, and positions keep the slots' order") {
  for (const Sampler& s : all_samplers()) {
    CAPTURE(s.name);
    const std::string spelled = s.name == "clipped" ? "clipped:limit=5"
                                : s.name == "given" ? "given:at=0 1 2 4 8 16 32 64 65 70 71 71.5" : s.name;
    const auto numbers = [&](int sequences, uint32_t step) {
      const Positions p = sample(spelled, sequences, 12, step);
      CHECK(p.time() == 12);
      return p.only_offsets() ? p.distances().value : p.tokens("test");
    };
    const Numbers p = numbers(1, 0);
    CHECK(p == numbers(1, 0));
    CHECK((p != numbers(1, 1)) == s.random);
    CHECK(std::is_sorted(p.begin(), p.end()));
    if (!s.random) {  // whether later slots move earlier ones: at least between two of these lengths
      const auto first = [&](int slots) {
        const Numbers all = sample(spelled, 1, slots, 0).tokens("test");
        return Numbers(all.begin(), all.begin() + 6);
      };
      const std::string far = s.name == "interpolated"      ? "interpolated:trained=5"
                              : s.name == "float_midpoints" ? "float_midpoints:trained=5"
                                                            : "";
      if (!far.empty()) CHECK(sample(far, 1, 7, 0).tokens("test")[5] != sample(far, 1, 12, 0).tokens("test")[5]);
      CHECK(((first(7) != first(12)) || !far.empty()) == s.by_length);
    }
    for (const double at : p) CHECK(std::isfinite(at));
    if (s.reads_classes) continue;   // these have their own tests below
    const Positions two = sample(spelled, 2, 12, 0);
    CHECK(two.sequences() == (s.random ? 2 : 1));
    CHECK((s.even || s.only_offsets) == !sample(spelled, 1, 12, 0).distances().pairs);
    if (s.only_offsets || !s.random) continue;
    const Numbers& both = two.tokens("test");
    CHECK(Numbers(both.begin(), both.begin() + 12) == p);
    CHECK(Numbers(both.begin() + 12, both.end()) != p);
    CHECK(s.even == !two.distances().pairs);
  }
}

Positions sample(const std::string& spelled, const std::vector<std::string>& rows, uint32_t step, int draws = 1) {
  Rng rng(stream(1, Purpose::positions, step));
  return sample(choose_sampler(spelled), {draws, int(rows[0].size()), classes(rows)}, rng);
}

TEST_CASE("samplers that read classes refuse values that are no class, and classes for other slots") {
  Rng rng(stream(1, Purpose::positions, 0));
  const Chosen<Sampler> abacus = choose_sampler("abacus");
  CHECK_THROWS_WITH_AS(sample(abacus, {1, 2, Ids({1, 2}, {0, 7})}, rng),
                       doctest::Contains("abacus: class 7 of a token"), BadInput);
  CHECK_THROWS_WITH_AS(sample(abacus, {1, 2, Ids({1, 3}, {0, 0, 0})}, rng),
                       doctest::Contains("abacus: classes (1, 3) for 2 slots"), BadInput);
  CHECK_THROWS_WITH_AS(sample(abacus, {1, 2, Ids({2}, {0, 0})}, rng),
                       doctest::Contains("abacus: classes (2) for 2 slots"), BadInput);
}

TEST_CASE("restart counts anew in each segment; abacus counts digits from 1, with one shift, and other symbols are 0") {
  const std::vector<std::string> rows{"01+110____", "1+0111____"};
  const Positions p = sample("restart", rows, 0);
  CHECK(p.sequences() == 2);
  CHECK(p.tokens("test") == Numbers{0, 1, 0, 0, 1, 2, 0, 1, 2, 3, 0, 0, 0, 1, 2, 3, 0, 1, 2, 3});
  CHECK(sample("abacus:shift=0", rows, 0).tokens("test") ==
        Numbers{1, 2, 0, 1, 2, 3, 1, 2, 3, 4, 1, 0, 1, 2, 3, 4, 1, 2, 3, 4});
  CHECK(sample("restart:first=1", {"01__", "11__"}, 0).tokens("test") == Numbers{1, 2, 1, 2});   // equal, so shared
  CHECK(sample("restart", 1, 4, 0).tokens("test") == Numbers{0, 1, 2, 3});
  std::map<int, double> law;
  std::map<int, int> seen;
  for (int k = 0; k <= 99; ++k) law[k] = 0.01;
  for (uint32_t n = 0; n < draws; ++n) {
    const Numbers a = sample("abacus", rows, n).tokens("test");
    REQUIRE((a[1] == a[0] + 1 && a[2] == 0 && a[10] == a[0] && a[16] == a[0] && a[9] == a[0] + 3));
    ++seen[int(a[0]) - 1];
  }
  CHECK(surprise(law, seen, draws) < one_in_a_million);
  const Positions apart = sample("abacus", {"01__", "11__"}, 0, 2);   // each sequence draws its own
  CHECK(apart.sequences() == 2);
  CHECK(apart.tokens("test")[0] != apart.tokens("test")[4]);
}

TEST_CASE("coupled: corresponding slots have equal numbers, from both ends and by halves, from a random subset") {
  const std::vector<std::string> rows{"01101_____", "011+0_____"};
  const int T = 10, K = 5;
  for (const char* spelled : {"coupled:dyadic", "coupled:dyadic,shuffled"}) {
    const Positions p = sample(spelled, rows, 3);
    REQUIRE(p.channels() == K);
    const Numbers& all = p.ids("test");
    const auto id = [&](int row, int t, int channel) { return all[size_t((row * T + t) * K + channel)]; };
    for (int t = 0; t < 5; ++t) {
      CHECK(id(0, t, 0) == id(0, 5 + t, 0));             // duplicate
      CHECK(id(0, t, 1) == id(0, 9 - t, 0));             // reverse: slot b of the input belongs to slot a of the output
      CHECK(p.tokens("test")[size_t(t)] == id(0, t, 0));
      CHECK(id(0, t, 2) == id(0, t / 2, 0));
      CHECK(id(0, t, 3) == id(0, (4 - t) / 2, 0));
      CHECK(id(0, t, 4) == t % 2);
    }
    CHECK(id(1, 3, 0) == id(1, 0, 0));
    CHECK(id(1, 4, 1) == id(1, 0, 0));
    for (int t = 1; t < 5; ++t) CHECK(id(0, t, 0) != id(0, t - 1, 0));
  }
  CHECK(sample("coupled", rows, 3).channels() == 1);
  CHECK(sample("coupled:two_ended", rows, 3).channels() == 2);
  Law law;
  for (const Numbers& p : subsets(3, 0, 6)) law[p] = 1 / 20.;
  check_law("coupled:max_position=6", 3, law);           // one segment: a uniform subset, as in randomized
}
