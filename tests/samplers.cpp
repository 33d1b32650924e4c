// The law of the samplers (spec A.7, family 9), when they draw, and what they refuse.
#include "encodings/samplers.h"

#include <doctest/doctest.h>

#include <map>

#include "autograd/tape.h"
#include "core/error.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/step.h"
#include "tests/statistics.h"

using namespace poslab;
using testing::one_in_a_million, testing::surprise;

namespace {

using Numbers = std::vector<double>;
constexpr int draws = 20000;

// "randomized:max_position=6"
Positions sample(const std::string& spelled, int sequences, int time, uint32_t step) {
  Rng rng(stream(1, Purpose::positions, step));
  return sample(choose_sampler(spelled), {sequences, time}, rng);
}
Numbers one(const std::string& spelled, int time, uint32_t step = 0) {
  return sample(spelled, 1, time, step).tokens("test");
}

using Law = std::map<Numbers, double>;
// Each with its probability, many draws of it against that.
void check_law(const std::string& spelled, int time, const Law& law) {
  CAPTURE(spelled);
  double all = 0;
  for (const auto& [p, probability] : law) all += probability;
  CHECK(all == doctest::Approx(1));
  std::map<Numbers, int> seen;
  for (uint32_t n = 0; n < draws; ++n) ++seen[one(spelled, time, n)];
  CHECK(surprise(law, seen, draws) < one_in_a_million);
}
// All increasing sequences of `time` of the positions low .. low + pool - 1, by recursion.
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
Numbers count_from(double first, int time) {
  Numbers p;
  for (int i = 0; i < time; ++i) p.push_back(first + i);
  return p;
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

TEST_CASE("samplers without chance: their formulas") {
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

TEST_CASE("scattered: a uniform subset of a pool that makes the mean gap what was asked for") {
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
    CHECK(std::abs(gap - 3.8) < 0.5 / (T + 1) * 3 + 5 * std::sqrt((square - gap * gap) / 4000));   // the pool is whole
  }
  CHECK_THROWS_WITH_AS(sample("scattered:gap=4096", 1, 5000, 0),
                       "scattered: 5000 slots at a mean gap of 4096 need a pool of 20484095 positions; it has at most "
                       "16777216, so take a smaller gap", BadInput);
}

TEST_CASE("log_density: the part of the pool is log-uniform, its start uniform, its subsets equally likely") {
  const int N = 5, T = 2;
  Law law;
  for (int part = T; part <= N; ++part)
    for (int shift = 0; shift <= N - part; ++shift)
      for (const Numbers& p : subsets(T, shift, part))
        law[p] += std::log((part + 1.) / part) / std::log((N + 1.) / T) / (N - part + 1) * 2 / (part * (part - 1));
  check_law("log_density:max_position=5", T, law);
  CHECK(one("log_density:max_position=6", 6, 2) == count_from(0, 6));
  // P(two neighbours are 1 apart) = T / N' for a part of N' positions, averaged over N'
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

TEST_CASE("contiguous: every start of the pool, or up to max_shift; pose: the two runs of the released code") {
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

TEST_CASE("cape: shift and jitter are uniform, the scale log-uniform, and the order stays") {
  const std::string still = "cape:global=0,local=0,scale=1";
  CHECK(one(still, 4) == Numbers{-1.5, -0.5, 0.5, 1.5});
  CHECK(one(still + ",centred=off", 3) == Numbers{0, 1, 2});
  // a tenth each of the range, in ten cells
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

TEST_CASE("random_floats: sorted, and the i-th of n has mean range i / (n + 1)") {
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

TEST_CASE("every sampler: the stream decides, sequences differ where it is random, the order of the slots stays") {
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
    for (const double at : p) CHECK(std::isfinite(at));
    if (s.reads_classes) continue;   // their own tests follow
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

// "00+11_": digits, signs, empty slots
Ids classes(const std::vector<std::string>& rows) {
  std::vector<int> all;
  for (const std::string& row : rows)
    for (const char c : row)
      all.push_back(int(c == '_' ? TokenClass::empty : c == '+' ? TokenClass::sign : TokenClass::digit));
  return {{int(rows.size()), int(rows[0].size())}, all};
}
Positions sample(const std::string& spelled, const std::vector<std::string>& rows, uint32_t step, int draws = 1) {
  Rng rng(stream(1, Purpose::positions, step));
  return sample(choose_sampler(spelled), {draws, int(rows[0].size()), classes(rows)}, rng);
}

TEST_CASE("restart counts anew in each segment; abacus counts digits from 1, with one shift, and signs are 0") {
  const std::vector<std::string> rows{"01+110____", "1+0111____"};
  const Positions p = sample("restart", rows, 0);
  CHECK(p.sequences() == 2);
  CHECK(p.tokens("test") == Numbers{0, 1, 0, 0, 1, 2, 0, 1, 2, 3, 0, 0, 0, 1, 2, 3, 0, 1, 2, 3});
  CHECK(sample("abacus:shift=0", rows, 0).tokens("test") ==
        Numbers{1, 2, 0, 1, 2, 3, 1, 2, 3, 4, 1, 0, 1, 2, 3, 4, 1, 2, 3, 4});
  CHECK(sample("restart:first=1", {"01__", "11__"}, 0).tokens("test") == Numbers{1, 2, 1, 2});   // alike: shared
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
  const Positions apart = sample("abacus", {"01__", "11__"}, 0, 2);   // a draw for each sequence
  CHECK(apart.sequences() == 2);
  CHECK(apart.tokens("test")[0] != apart.tokens("test")[4]);
}

TEST_CASE("coupled: equal places have equal numbers, from both ends and by halves, of a random subset") {
  const std::vector<std::string> rows{"01101_____", "011+0_____"};
  const int T = 10, K = 5;
  for (const char* spelled : {"coupled:dyadic", "coupled:dyadic,shuffled"}) {
    const Positions p = sample(spelled, rows, 3);
    REQUIRE(p.channels() == K);
    const Numbers& all = p.ids("test");
    const auto id = [&](int row, int t, int channel) { return all[size_t((row * T + t) * K + channel)]; };
    for (int t = 0; t < 5; ++t) {
      CHECK(id(0, t, 0) == id(0, 5 + t, 0));             // duplicate
      CHECK(id(0, t, 1) == id(0, 9 - t, 0));             // reverse: b of the input is a of the output
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

TEST_CASE("bipe: segments begin where positions do not grow, and places beyond the table read its last row") {
  const NoGrad no_grad;
  const int C = 8, H = 2;
  const Chosen<Scheme> scheme = choose_encoding("bipe:rows=16"), by_penalty = choose_encoding("bipe:between=alibi");
  const ModelShape shape{.layers = 1, .heads = H, .d_model = C};
  // "12+34=" and three slots of an answer: the positions of `restart`
  const Positions p = Positions::of_tokens(1, {0, 1, 0, 0, 1, 0, 0, 1, 2});
  const std::vector<double> number = {0, 0, 1, 2, 2, 3, 4, 4, 4};
  const Tensor rho = scheme->distances(shape, scheme.choices, p);
  const Heads zeros{Tensor::full({1, 9, H, C / H}, 0), Tensor::full({1, 9, H, C / H}, 0), {}};
  const Tensor bias = by_penalty->make({Params(1), Params(1)}, shape, by_penalty.choices, 0)->logits(zeros, p, {});
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) {
      const double apart = number[size_t(i)] - number[size_t(j)];
      CHECK(double(rho.data()[i * 9 + j]) == apart);
      for (int h = 0; h < H; ++h)
        CHECK(double(bias.data()[(h * 9 + i) * 9 + j]) ==
              doctest::Approx(-96 * std::exp2(-4. * (h + 1)) * std::abs(apart)));
    }
  Params params(1);
  const PositionEmbedding embed = scheme->embed(params, shape, scheme.choices);
  params.pack();
  const auto of = [&](double position) {
    return embed(Tensor::full({1, 1, C}, 0), Positions::of_tokens(1, {position})).values();
  };
  const Tensor table = params.at("table");
  for (const auto& [position, row] : {std::pair{0., 0}, {7., 7}, {7.6, 8}, {15., 15}, {400., 15}, {-3., 0}})
    CHECK(of(position) == slice(table, 0, row, row + 1).values());
}

TEST_CASE("randomized:grow draws from a quarter of the pool, then half, then all, and a test from all") {
  for (const char* encoding : {"rope", "alibi"}) {   // alibi: a table of offsets
    const Choices c = configure({{"task", "even_pairs"}, {"encoding", encoding},
                                {"positions", "randomized:max_position=64,grow=300"}, {"batch", "1"}});
    const auto largest = [&](int64_t from, int64_t to, int slots) {
      double most = 0;
      for (int64_t step = from; step < to; ++step) {
        const Positions p = draw_positions(c, step, slots).at_layer(0);
        for (const double x : p.only_offsets() ? p.distances().value : p.tokens("test")) most = std::max(most, x);
      }
      return most;
    };
    CHECK(largest(0, 100, 8) == 15);
    CHECK(largest(100, 200, 8) == 31);
    CHECK(largest(200, 300, 8) == 63);
    CHECK(largest(300, 400, 8) == 63);
    CHECK(largest(0, 100, 20) == 19);                // more slots than a quarter has positions
    double most = 0;
    for (int n = 0; n < 100; ++n) {
      const Positions p = test_draw(c, 7, n, 1, 8).at_layer(0);
      for (const double x : p.only_offsets() ? p.distances().value : p.tokens("test")) most = std::max(most, x);
    }
    CHECK(most == 63);
  }
  const Choices turns = configure({{"task", "even_pairs"}, {"encoding", "rope"},
                                  {"positions", "randomized:max_position=64,grow=9|sequential"}, {"batch", "1"}});
  CHECK(draw_positions(turns, 0, 16).at_layer(0).tokens("test") == count_from(0, 16));   // all that there are
  CHECK(draw_positions(turns, 0, 16).at_layer(1).tokens("test") == count_from(0, 16));
}

TEST_CASE("ids adds the code of each number, turned by its own number of channels; sincos is the code of one number") {
  const NoGrad no_grad;
  const int C = 8;
  const auto embed = [&](const std::string& spelled, const Tensor& x, const Positions& p) {
    const Chosen<Scheme> scheme = choose_encoding(spelled);
    return scheme->embed(Params(1), {.heads = 2, .d_model = C}, scheme.choices)(x, p).values();
  };
  const Tensor zeros = Tensor::full({1, 3, C}, 0);
  const auto a = embed("ids", zeros, Positions::of_tokens(1, {7, 2.5, 7}));
  for (const real x : a) CHECK(std::abs(x) == 1);
  CHECK(std::equal(a.begin(), a.begin() + C, a.begin() + 2 * C));
  CHECK_FALSE(std::equal(a.begin(), a.begin() + C, a.begin() + C));
  const auto b = embed("ids", zeros, Positions::of_tokens(1, {2.5, 0, 2.5}));
  const auto both = embed("ids", zeros, Positions::of_ids(1, 2, {7, 2.5, 2.5, 0, 7, 2.5}));
  for (int t = 0; t < 3; ++t)
    for (int m = 0; m < C; ++m)
      CHECK(double(both[size_t(t * C + (m + 4) % C)]) ==
            doctest::Approx((double(a[size_t(t * C + (m + 4) % C)]) + double(b[size_t(t * C + m)])) / std::sqrt(2.)));
  CHECK(embed("ids:codes=sincos", zeros, Positions::of_tokens(1, {7, 2.5, 7})) ==
        embed("sincos", zeros, Positions::of_tokens(1, {7, 2.5, 7})));
  double alike = 0;   // of 1000 numbers' codes with that of 0: random signs
  for (int n = 1; n <= 1000; ++n) {
    const auto two = embed("ids", Tensor::full({1, 2, C}, 0), Positions::of_tokens(1, {0, double(n)}));
    for (int m = 0; m < C; ++m) alike += double(two[size_t(m)] * two[size_t(C + m)]);
  }
  CHECK(std::abs(alike) < 5 * std::sqrt(1000. * C));
  const auto zero = embed("ids", Tensor::full({1, 2, C}, 0), Positions::of_tokens(1, {0, -0.}));
  CHECK(std::equal(zero.begin(), zero.begin() + C, zero.begin() + C));
  const Bits first = philox(0, stream(0, Purpose::init, 0));   // of the first parameter of a run with seed 0
  int same = 0;
  for (int m = 0; m < C; ++m) same += (zero[size_t(m)] > 0) == bool(first.at[0] >> m & 1);
  CHECK(same < C);
  CHECK_THROWS_AS(Positions::of_ids(1, 2, {1, 2, 3}), BadInput);
  Rng rng{Stream{}};
  CHECK_THROWS_AS(sample(choose_sampler("restart"), {1, 3, Ids({1, 2}, {0, 0})}, rng), BadInput);
}

TEST_CASE("tokens have classes by their task's alphabet, and training and tests draw by them") {
  const Ids tokens({2, 6}, {0, 1, 2, 1, 3, 3, 1, 2, 0, 0, 3, 3});
  const Ids of_addition = token_classes(task("binary_addition"), tokens);
  const Ids expected = classes({"00+0__", "0+00__"});
  for (int64_t i = 0; i < 12; ++i) CHECK(of_addition[i] == expected[i]);
  for (const auto& [encoding, positions] : {std::pair{"learned", "abacus"}, {"rope", "restart"},
                                            {"ids", "coupled:dyadic"}, {"relative", "restart|sequential"}})
    for (const char* resample : {"per_forward", "per_sequence"}) {
      CAPTURE(positions);
      State state(configure({{"task", "binary_addition"}, {"encoding", encoding}, {"positions", positions},
                             {"resample", resample}, {"layers", "2"}, {"heads", "2"}, {"d_model", "16"}, {"batch", "4"},
                             {"steps", "2"}, {"train_length", "9"}, {"eval_lengths", "8:9"}, {"eval_samples", "4"}}));
      const StepInputs inputs = draw_step(state.config, 0, 9);
      const Ids seen = token_classes(task("binary_addition"), inputs.batch.tokens);
      const Positions& p = inputs.positions.at_layer(0);
      CHECK(p.sequences() == 4);
      for (int b = 0; b < 4; ++b)
        for (int t = 1; t < 9; ++t)   // a new segment begins where the first number of the segment comes back
          if (seen[b * 19 + t] != seen[b * 19 + t - 1] && std::string(positions) != "abacus")
            CHECK(p.tokens("test")[size_t(b * 19 + t)] == p.tokens("test")[size_t(b * 19)]);
      CHECK(std::isfinite(finish_step(state.config, start_step(state, inputs)).loss));
      CHECK(std::isfinite(evaluate(state, 9).loss));
    }
}

TEST_CASE("every sampler: a model computes with it") {
  for (const Sampler& s : all_samplers())
    for (const char* encoding : {"sincos", "rope", "relative", "alibi", "geometric"})
      for (const Resample resample : {Resample::per_forward, Resample::per_layer, Resample::per_sequence}) {
        CAPTURE(s.name);
        CAPTURE(encoding);
        TransformerSpec spec{.layers = 2, .heads = 4, .d_model = 16, .encoding = choose_encoding(encoding)};
        Chosen<Sampler> sampler = choose_sampler(s.name);
        const bool table = has(reads(spec.encoding), Reads::offset_table);
        if (s.only_offsets && has(reads(spec.encoding), Reads::positions)) continue;
        if (table && !s.even && !s.only_offsets && s.as_offsets.empty()) {
          CHECK_THROWS_AS(sampler_for(spec.encoding, sampler), BadInput);
          continue;
        }
        sampler = sampler_for(spec.encoding, sampler);
        const Transformer net(Params(1), spec);
        const NoGrad no_grad;
        const PositionSample draw(sampler, resample, stream(1, Purpose::positions, 0), 2, 6);
        for (const real x : net(Ids({2, 6}, {0, 1, 1, 0, 2, 2, 1, 0, 1, 0, 2, 2}), 2, {draw, {}}).values())
          CHECK(std::isfinite(x));
      }
}

TEST_CASE("a scheme that reads one offset for each distance of slots gets it, or is refused with a way out") {
  const auto named = [](const std::string& sampler) {
    return sampler_for(choose_encoding("alibi"), choose_sampler(sampler)).spelled();
  };
  for (const char* even : {"contiguous", "stretched", "float_midpoints"}) CHECK(named(even) == even);
  CHECK(named("randomized") == "randomized_offsets");
  CHECK_THROWS_WITH_AS(named("log_density"),
                       "alibi reads one offset for all slots that are equally far apart, and log_density draws other "
                       "distances for each pair; choose a mode that reads distances of tokens, such as "
                       "mode=differences, or use randomized", BadInput);
  CHECK(sampler_for(choose_encoding("alibi:mode=differences"), choose_sampler("blocks")).spelled() == "blocks");
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

TEST_CASE("a sampler for the embedding and another for the logits: each part of a scheme is given its own") {
  const Chosen<Sampler> both = choose_sampler("coupled:two_ended&randomized", {{"max_position", "50"}});
  CHECK(pool_of(both) == 50);
  CHECK(pool_of(choose_sampler("coupled:max_position=9&sequential")) == 9);
  CHECK(both->random);
  CHECK(both->reads_classes);
  for (Resample how : {Resample::per_forward, Resample::per_layer, Resample::per_sequence}) {
    const PositionSample p(both, how, stream(3, Purpose::positions, 9), 4, 5),
        alone(choose_sampler("randomized:max_position=50"), how, stream(3, Purpose::positions, 9), 4, 5);
    CHECK(p.at_embedding().channels() == 2);
    CHECK(&p.at_embedding() == &p.at_embedding());
    for (int layer = 0; layer < 3; ++layer) {  // the layers' draws are those of their sampler alone
      CHECK(p.at_layer(layer).channels() == 1);
      CHECK(p.at_layer(layer).tokens("test") == alone.at_layer(layer).tokens("test"));
    }
    CHECK(p.at_embedding().tokens("test") != p.at_layer(0).tokens("test"));
  }
  // ALiBi by default reads a table of offsets, which `coupled` cannot give
  const Chosen<Scheme> scheme = choose_encoding("ids&alibi");
  CHECK(sampler_for(scheme, both).spelled() == "coupled:max_position=50,two_ended&randomized_offsets:max_position=50");
  CHECK_THROWS_WITH_AS(sampler_for(scheme, choose_sampler("coupled")),
                       doctest::Contains("or give each part its own, as in coupled&randomized"), BadInput);
  CHECK_THROWS_WITH_AS(sampler_for(choose_encoding("sincos&alibi"), choose_sampler("randomized")),
                       doctest::Contains("or give each part its own, as in randomized&randomized"), BadInput);
  CHECK_THROWS_WITH_AS(sampler_for(choose_encoding("alibi"), both),
                       doctest::Contains("alibi is not made of two such schemes"), BadInput);
  CHECK_THROWS_WITH_AS(choose_sampler("coupled&randomized&sequential"), doctest::Contains("more than two parts"),
                       BadInput);
  CHECK(sampler_for(choose_encoding("ids&rope|none"), choose_sampler("coupled&randomized|sequential"))->parts->size() ==
        2);
  // a pool that grows, in each part
  CHECK(at_step(choose_sampler("randomized:grow=9&randomized:grow=9"), 0, 5).spelled() ==
        "randomized:max_position=512,grow=9&randomized:max_position=512,grow=9");
}

TEST_CASE("a model reads the embedding's positions at the embedding and the logits' in the layers") {
  const auto outputs = [](const char* encoding, const char* positions) {
    const TransformerSpec spec{.layers = 2, .heads = 4, .d_model = 16, .encoding = choose_encoding(encoding)};
    const NoGrad no_grad;
    const PositionSample draw(sampler_for(spec.encoding, choose_sampler(positions)), Resample::per_forward,
                              stream(1, Purpose::positions, 0), 2, 6);
    return Transformer(Params(1), spec)(Ids({2, 6}, {0, 1, 1, 0, 2, 2, 1, 0, 1, 0, 2, 2}), 2, {draw, {}}).values();
  };
  const auto plain = outputs("ids&rope", "sequential");
  CHECK(outputs("ids&rope", "sequential&sequential") == plain);
  CHECK(outputs("ids&rope", "sequential&stretched:gap=3") != plain);
  CHECK(outputs("ids&rope", "stretched:gap=3&sequential") != plain);
  CHECK(outputs("ids&alibi", "coupled:two_ended&sequential") != outputs("ids&alibi", "coupled&sequential"));
}

TEST_CASE("samplers refuse what the pool cannot give, and say what to do") {
  for (const std::string& name : names_of(all_samplers())) {
    CAPTURE(name);
    const Chosen<Sampler> s = choose_sampler(name, {{"max_position", "8"}});
    Rng rng(stream(1, Purpose::positions, 0));
    const auto draw = [&](int sequences, int time) { return sample(s, {sequences, time}, rng); };
    CHECK_THROWS_AS(draw(1, 0), BadInput);
    CHECK_THROWS_AS(draw(0, 3), BadInput);
    CHECK(draw(1, 8).time() == 8);
    if (pool_of(s) > 8)
      CHECK(draw(1, 9).time() == 9);   // no pool: it counts on
    else
      CHECK_THROWS_WITH_AS(draw(1, 9),
                           (name + ": 9 slots (input and output) but only 8 positions; " +
                            (name == "given" ? "add to the list" : "raise max_position")).c_str(),
                           BadInput);
  }
  CHECK_THROWS_WITH_AS(choose_sampler("randomised"), doctest::Contains("did you mean \"randomized\"?"), BadInput);
}
