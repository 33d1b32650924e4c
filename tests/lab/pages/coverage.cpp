// Coverage in inspections of runs: the positions and distances seen in training, against counts by hand.
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiment/coverage.h"
#include "experiment/step.h"
#include "lab/pages/inspect/figures.h"
#include "tests/lab/helpers.h"

using namespace poslab;
using namespace poslab::inspect;
using namespace poslab::test;

namespace {

int64_t total(const Histogram& counts) {
  int64_t sum = 0;
  for (const auto& [value, n] : counts) sum += n;
  return sum;
}

int64_t at(const Histogram& counts, int value) { return counts.count(value) ? counts.at(value) : 0; }

}  // namespace

TEST_CASE("coverage: gaps between neighbours, and the overlap of two distributions") {
  const Coverage counted = gaps(tiny_config({{"positions", "sequential"}, {"curriculum", "fixed"}}), {6});
  CHECK(counted.trained == Histogram{{1, 40 * 11}});  // 12 slots have 11 gaps
  CHECK(counted.tests[0].met == Histogram{{1, 11}});
  CHECK(in_common(counted.trained, counted.tests[0].met) == doctest::Approx(1));
  const Coverage own = gaps(tiny_config({{"positions", "blocks:block=2"}, {"resample", "per_sequence"}}), {6, 9});
  CHECK(total(own.tests[1].met) == 64 * 17);  // no gap from the last slot of a sequence to the first of the next
  CHECK(own.tests[1].met.begin()->first == 1);
  CHECK(in_common({{1, 3}, {2, 1}}, {{1, 1}, {5, 1}}) == doctest::Approx(0.5));
  CHECK(in_common({{1, 3}}, {{2, 1}}) == 0);
  CHECK_THROWS_AS(gaps(tiny_config({{"encoding", "alibi"}}), {6}), BadInput);  // random distances without positions
}

TEST_CASE("inspect: coverage of sequential positions is counted by hand") {
  const RunSpec fixed(tiny_config({{"positions", "sequential"}, {"curriculum", "fixed"}}));
  const Coverage c = coverage(fixed, {6, 9});
  CHECK(c.counted == Reads::distances);
  CHECK(c.steps == 40);  // all steps of the run
  for (int d = 1; d < 14; ++d)
    for (const int sign : {-1, 1}) {
      CHECK(at(c.trained, sign * d) == 40 * std::max(0, 12 - d));  // T - d pairs are d apart
      CHECK(at(c.tests[1].met, sign * d) == 18 - d);
    }
  CHECK(at(c.trained, 0) == 0);
  CHECK(c.tests[0].seen == 1);
  double seen = 0;
  for (int d = 1; d < 12; ++d) seen += 2 * (18 - d);
  CHECK(c.tests[1].seen == doctest::Approx(seen / (18 * 17)));
  CHECK(c.trained.rbegin()->first == 11);

  const RunSpec uniform(tiny_config({{"positions", "sequential"}}));
  Histogram expected;
  for (int64_t step = 0; step < 40; ++step) {
    const int T = draw_step(uniform, step).batch.tokens.shape()[1];
    for (int d = 1; d < T; ++d) expected[d] += T - d, expected[-d] += T - d;
  }
  CHECK(coverage(uniform, {6}).trained == expected);
  const RunSpec rising(tiny_config({{"positions", "sequential"}, {"curriculum", "increasing"}, {"steps", "6000"}}));
  const Coverage spread = coverage(rising, {6});  // the first 2000 steps alone would only reach length 2
  CHECK(spread.steps == 2000);
  CHECK(spread.trained.rbegin()->first == 11);
  CHECK(coverage(rising, {6}, 2000).trained.rbegin()->first == 3);
  const Coverage before = coverage(rising, {6}, 0);
  CHECK(before.tests[0].seen == 0);
  CHECK(holds(coverage_figure(before, "fresh", "c").dump(), "**fresh.**"));
  const Coverage causal = coverage(tiny_config({{"positions", "sequential"}, {"causal", "on"}}), {6});
  CHECK(causal.trained.rbegin()->first == -1);
  const nlohmann::json curves = coverage_figure(causal, "no later key", "d")["curves"];
  CHECK(curves[0]["points"].back() == nlohmann::json({0., 0.}));  // the filled area ends on the axis
  CHECK(curves[1]["points"].back()[0] == -1.);
}

TEST_CASE("inspect: coverage of randomized positions reaches nearly all distances of the pool") {
  const Coverage c = coverage(tiny_config({{"steps", "2000"}}), {6, 9, 20});
  CHECK(c.trained.size() >= 2 * 62);  // nearly all of the 63 distances on each side
  CHECK(c.trained.rbegin()->first <= 63);
  for (const Coverage::Test& test : c.tests) CHECK(test.seen > .999);
  CHECK(total(c.tests[0].met) == 64 * 12 * 11);
  const std::string csv = csv_files[4].lines("r", Inside{.coverage = c});
  CHECK(holds(csv, fmt::format("r,distance,training,1,{},1\n", c.trained.at(1))));
  CHECK(holds(csv, "r,distance,length 20,"));
}

TEST_CASE("inspect: coverage depends on the scheme and on how positions are drawn") {
  const auto of = [](const Settings& more) { return coverage(tiny_config(more), {9}, 5); };
  const Coverage absolute = of({{"encoding", "sincos"}, {"positions", "sequential"}, {"curriculum", "fixed"}});
  CHECK(absolute.counted == Reads::positions);
  CHECK(absolute.trained ==
        Histogram{{0, 5}, {1, 5}, {2, 5}, {3, 5}, {4, 5}, {5, 5}, {6, 5}, {7, 5}, {8, 5}, {9, 5}, {10, 5}, {11, 5}});
  CHECK(absolute.tests[0].seen == doctest::Approx(12. / 18));
  const Coverage nothing = of({{"encoding", "none"}});
  CHECK(nothing.trained.empty());
  CHECK(of({{"encoding", "geometric"}}).trained.empty());
  CHECK(std::isnan(nothing.tests[0].seen));
  CHECK(of({{"encoding", "rope"}}).counted == Reads::distances);
  const int64_t once = total(of({{"curriculum", "fixed"}}).trained);
  CHECK(once == 5 * 12 * 11);
  CHECK(total(of({{"curriculum", "fixed"}, {"resample", "per_layer"}}).trained) == 2 * once);
  CHECK(total(of({{"curriculum", "fixed"}, {"resample", "per_sequence"}}).trained) == 16 * once);
  const auto per_layer = [&](const char* positions) {
    return total(of({{"curriculum", "fixed"}, {"resample", "per_layer"}, {"positions", positions}}).trained);
  };
  CHECK(per_layer("sequential") == once);  // nothing is drawn, so all layers have the same positions
  CHECK(per_layer("sequential|sequential") == 2 * once);
  const Coverage coupled = of({{"curriculum", "fixed"}, {"encoding", "rope"}, {"positions", "coupled"}});
  CHECK(at(coupled.trained, 0) == 5 * 12);  // the answer's slots have the positions of the input's slots
  CHECK_FALSE(of({}).rounded);
  const Coverage spread = of({{"positions", "evenly_spread"}});
  CHECK(spread.rounded);
  const Coverage table = of({{"encoding", "alibi"}});  // a table of offsets, the same on both sides
  for (const auto& [value, n] : table.trained) CHECK(at(table.trained, -value) == n);
  const auto figure = [](const Coverage& c) { return coverage_figure(c, "the run", "c"); };
  for (const Coverage& c : {absolute, nothing, table}) CHECK(holds(figure(c).dump(), "**the run.**"));
  CHECK(holds(figure(spread)["caption"], "values are rounded to whole numbers"));
  CHECK(figure(nothing).is_string());
  CHECK(figure(absolute)["unit"] == "position");
  CHECK(figure(table)["unit"] == "distance");
}
