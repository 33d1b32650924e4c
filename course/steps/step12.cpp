// Step 12: randomized positions. encodings/samplers_subset.cpp
#include <set>

#include "schemes.h"

using namespace poslab;
using namespace course;

namespace {

Rng rng_of(uint32_t n) { return Rng(stream(3, Purpose::positions, n)); }

// How often 4000 draws of n hold each number of low .. low + pool - 1; 1 is fair.
Values shares(int n, int low, int pool) {
  Values share(size_t(pool), 0.);
  for (uint32_t draw = 0; draw < 4000; ++draw) {
    Rng rng = rng_of(draw);
    for (double p : subset(n, low, pool, true, rng))
      if (p >= low && p < low + pool) share[size_t(p) - size_t(low)] += double(pool) / n / 4000;
  }
  return share;
}

}  // namespace

CASE("a subset has distinct numbers of its range") {
  for (const auto& [n, low, pool] : {std::array{5, 0, 20}, {20, 1, 20}, {1, 3, 4}}) {
    Rng rng = rng_of(0);
    const std::vector<double> p = subset(n, low, pool, true, rng);
    check("n numbers", double(p.size()), n);
    const std::set<double> different(p.begin(), p.end());
    if (int(different.size()) < n)
      wrong("n different numbers, drawn without replacement", "", fmt::format("{} different ones", n),
            fmt::format("{}", different.size()), "a number is drawn twice: put it aside once it is drawn");
    if (*different.begin() < low || *different.rbegin() >= low + pool)
      wrong("numbers from low to low + pool - 1", "", fmt::format("{} .. {}", low, low + pool - 1),
            fmt::format("{} .. {}", *different.begin(), *different.rbegin()),
            "off by one: numbers begin at `low`, and there are `pool` of them");
  }
}

CASE("a subset is sorted, or in any order") {
  Rng rng = rng_of(1), again = rng_of(1);
  const std::vector<double> p = subset(10, 0, 100, true, rng), q = subset(10, 0, 100, false, again);
  if (!std::is_sorted(p.begin(), p.end()))
    wrong("sorted: in increasing order", "", "increasing", "not so",
          "it is not sorted: then positions say nothing of the order of tokens");
  if (std::is_sorted(q.begin(), q.end()))
    wrong("not sorted: in random order", "", "any order", "increasing", "`sorted` is not read");
}

CASE("every order is equally likely") {
  constexpr int draws = 20000;
  double share[3][3] = {};  // how often number p is in slot i; 1 is fair
  for (uint32_t draw = 0; draw < draws; ++draw) {
    Rng rng = rng_of(draw);
    const std::vector<double> p = subset(3, 0, 3, false, rng);
    for (size_t i = 0; i < 3; ++i) share[i][size_t(p[i])] += 3. / draws;
  }
  for (size_t i = 0; i < 3; ++i)
    for (size_t p = 0; p < 3; ++p)
      if (std::abs(share[i][p] - 1) > 0.04)
        wrong("not sorted: each number of 0, 1, 2 is equally often at each place", fmt::format("[{}], {}", i, p),
              "1 times its share", fmt::format("{:.2f}", share[i][p]),
              i == p && share[i][p] == 0
                  ? "a number may stay where it is: the place to exchange with is one of 0 .. i, i "
                    "included"
                  : "every order is equally likely: exchange place i with one of 0 .. i, from the "
                    "end, and not with any place");
}

CASE("every number is equally likely") {
  const int pool = 12;
  const Values share = shares(4, 2, pool);
  for (int at = 0; at < pool; ++at)
    if (std::abs(share[size_t(at)] - 1) > 0.12)
      wrong("each of the pool's numbers is drawn equally often", fmt::format("{}", at + 2), "1 times its share",
            fmt::format("{:.2f}", share[size_t(at)]),
            "every subset is equally likely, so the pool's ends come as often as its middle; gaps that are drawn one "
            "after the other, or numbers that are drawn in order, are not fair");
}

CASE("draws differ") {
  Rng rng = rng_of(5);
  const std::vector<double> one = subset(8, 0, 1000, true, rng), two = subset(8, 0, 1000, true, rng);
  if (one == two)
    wrong("each draw is a new one", "", "two different subsets", "the same twice",
          "the random numbers come from `rng`, which goes on with each draw");
}

CASE("the sampler `randomized`") {
  const Chosen<Sampler> s = sampler("randomized:max_position=50,first=1");
  Rng rng = rng_of(2);
  const Positions p = s->draw(s.choices, {3, 7, {}}, rng);
  check("3 sequences of 7 slots", {double(p.sequences()), double(p.time())}, {3, 7});
  const std::vector<double>& at = p.tokens("test");
  for (int b = 0; b < 3; ++b)
    if (!std::is_sorted(at.begin() + b * 7, at.begin() + (b + 1) * 7))
      wrong("positions rise from slot to slot", fmt::format("[{}]", b), "increasing", "not so",
            "`unsorted` is off: `sorted` is its opposite");
  double highest = 0;
  for (uint32_t draw = 0; draw < 50; ++draw) {
    Rng other = rng_of(100 + draw);
    for (double v : s->draw(s.choices, {1, 7, {}}, other).tokens("test")) highest = std::max(highest, v);
  }
  if (highest < 40)
    wrong("the whole pool is used", "", "up to 50", fmt::format("up to {}", highest),
          "the pool is max_position numbers, not as many as there are slots");
  if (std::equal(at.begin(), at.begin() + 7, at.begin() + 7))
    wrong("each sequence is drawn by itself", "", "different ones", "the same",
          "draw for each: draw_each(slots, rng, ..)");
  const auto [least, most] = std::minmax_element(at.begin(), at.end());
  if (*least < 1 || *most > 50)
    wrong("positions of 1 .. 50", "", "1 .. 50", fmt::format("{} .. {}", *least, *most),
          "the pool has max_position numbers from `first` on");
  const Chosen<Sampler> any = sampler("randomized:max_position=50,unsorted");
  Rng third = rng_of(3);
  const std::vector<double> q = any->draw(any.choices, {1, 20, {}}, third).tokens("test");
  if (std::is_sorted(q.begin(), q.end()))
    wrong("with `unsorted` in random order", "", "any order", "increasing", "`unsorted` is not read");
}

CASE("random offsets, for schemes that read distances alone") {
  const Chosen<Sampler> s = sampler("randomized_offsets:max_position=50");
  Rng rng = rng_of(4);
  const int T = 6;
  const Positions p = s->draw(s.choices, {1, T, {}}, rng);
  check("offsets for j - i = -(T-1) .. T-1, so T = 6 slots", double(p.time()), T,
        {{"the offsets of one side are missing: there are 2 T - 1", {3}}});
  const std::vector<double>& d = p.distances().value;
  check("a token's distance to itself is 0", d[size_t(T - 1)], 0);
  Values left(d.begin(), d.begin() + T - 1), right(d.begin() + T, d.end()), minus_right, mirrored(right);
  for (const double r : right) minus_right.push_back(-r);
  std::reverse(mirrored.begin(), mirrored.end());
  check("the left side is -r_{T-1} .. -r_1, where the right one is r_1 .. r_{T-1}", left,
        Values(minus_right.rbegin(), minus_right.rend()),
        {{"the left side has no minus", mirrored},
         {"the left side is not mirrored: it ends with -r_1, next to the 0", minus_right},
         {"the left side is not mirrored, and has no minus", right}});
  for (int n = 1; n < T; ++n) {
    if (!(d[size_t(T - 1 + n)] > d[size_t(T - 2 + n)]))
      wrong("offsets grow with the distance", fmt::format("[{}]", T - 1 + n), "more than the one before", "less",
            "the smallest offset belongs to the nearest slots");
  }
  const Chosen<Sampler> all = sampler("randomized_offsets:max_position=6");
  for (uint32_t draw = 0; draw < 20; ++draw) {
    Rng other = rng_of(draw);
    const Values of_all = all->draw(all.choices, {1, T, {}}, other).distances().value;
    const Values r(of_all.begin() + T, of_all.end());
    check("T = 6 slots of N = 6 positions: r is 1 .. 5", r, {1, 2, 3, 4, 5},
          {{r.front() < 1 ? "two slots are never 0 apart: 1 is the smallest r"
                          : "N positions are N - 1 apart at most: N - 1 is the largest r",
            r}});
  }
  const Chosen<Sampler> any = sampler("randomized_offsets:max_position=50,unsorted");
  for (const auto& [options, sorted] : {std::pair{s, true}, {any, false}}) {
    Rng other = rng_of(5);
    const Positions two = options->draw(options.choices, {2, 20, {}}, other);
    check("2 sequences of 20 slots", {double(two.sequences()), double(two.time())}, {2, 20},
          {{"there is one row for all; draw one for each of slots.sequences", {1, 20}}});
    std::vector<double> right[2];  // distances of the first query, in each sequence
    for (int b = 0; b < 2; ++b)
      for (int n = 0; n < 20; ++n) right[b].push_back(two.distances().value[size_t(two.distances().row(b, 0, n, 20))]);
    if (right[0] == right[1])
      wrong("each sequence has a row of its own", "", "different ones", "the same", "draw again for each sequence");
    if (!sorted && std::is_sorted(right[0].begin(), right[0].end()))
      wrong("with `unsorted` in random order", "", "any order", "increasing", "`unsorted` is not read");
  }
}
