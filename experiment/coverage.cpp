#include "experiment/coverage.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/lengths.h"
#include "experiment/step.h"

namespace poslab {
namespace {

constexpr int64_t most_counted_steps = 2000;
constexpr int most_test_draws = 64;  // at each length

void count_value(double value, int64_t times, Coverage& c, Histogram& counts) {
  const long whole = std::lround(value);
  c.rounded = c.rounded || double(whole) != value;
  counts[int(whole)] += times;
}

void count_positions(const Positions& p, const std::string& scheme, Coverage& c, Histogram& counts) {
  for (const double value : p.tokens(scheme)) count_value(value, 1, c, counts);
}

void count_distances(const Positions& p, bool causal, Coverage& c, Histogram& counts) {
  const Distances& d = p.distances();
  const int S = p.sequences(), T = p.time();
  std::vector<int64_t> pairs(d.value.size(), 0);
  for (int away = 1; !d.pairs && away < T; ++away)  // a row for each j - i
    for (const auto& [i, j] : {std::pair{away, 0}, {0, away}})
      if (i > j || !causal) pairs[size_t(d.row(0, i, j, T))] += T - away;
  for (int s = 0; d.pairs && s < S; ++s)
    for (int i = 0; i < T; ++i)
      for (int j = 0; j < (causal ? i + 1 : T); ++j) pairs[size_t(d.row(s, i, j, T))] += i != j;
  for (size_t n = 0; n < pairs.size(); ++n)
    if (pairs[n]) count_value(d.value[n], pairs[n], c, counts);
}

void count_gaps(const Positions& p, Coverage& c, Histogram& counts) {
  const std::vector<double>& at = p.tokens("gaps");
  const size_t T = size_t(p.time());
  for (size_t i = 1; i < at.size(); ++i)
    if (i % T) count_value(at[i] - at[i - 1], 1, c, counts);
}

Reads counted(const Chosen<Scheme>& s) {
  if (s->embed) return Reads::positions;
  return reads(s) == Reads::nothing || reads(s) == Reads::slots ? Reads::nothing : Reads::distances;
}

// Share of the values at test, by count, that occurred in training; NaN without any.
double seen(const Histogram& trained, const Histogram& met) {
  int64_t all = 0, known = 0;
  for (const auto& [value, n] : met) all += n, known += trained.count(value) ? n : 0;
  return all ? double(known) / double(all) : std::numeric_limits<double>::quiet_NaN();
}

int64_t total(const Histogram& counts) {
  int64_t all = 0;
  for (const auto& [value, n] : counts) all += n;
  return all;
}

// Adds the counts of one draw, in which this many layers have separate positions.
using Count = std::function<void(int layers, const PositionSample&, Coverage&, Histogram&)>;

Coverage counted_by(const Count& count, const Draws& d, const std::vector<int>& lengths) {
  Coverage made{counted(d.scheme), std::min(d.done, most_counted_steps), false, {}, {}};
  for (int64_t n = 0; n < made.steps; ++n)
    count(d.training_layers, d.training(n * d.done / made.steps), made, made.trained);
  for (const int length : lengths) {
    Coverage::Test test{length, {}, 0};
    for (int n = 0; n < d.test_draws; ++n) count(d.test_layers, d.test(length, n), made, test.met);
    test.seen = seen(made.trained, test.met);
    made.tests.push_back(std::move(test));
  }
  return made;
}

Draws draws_of(const RunSpec& c, const std::vector<int>& lengths, int64_t done) {
  check_lengths(c, lengths);
  // A task may draw shorter strings, so a drawn string shows how many slots a length has.
  const auto slots = std::make_shared<std::map<int, int>>();
  const auto slots_of = [c, slots](int length) {
    int& known = (*slots)[length];
    return known ? known : known = test_batch(c, length, 0, 1).tokens.shape()[1];
  };
  const auto layers = [&](const Chosen<Sampler>& s) {
    return s->parts || (c["resample"] == "per_layer" && s->random) ? c.whole("layers") : 1;
  };
  const auto training = [c, slots_of](int64_t step) {
    const Ids tokens = sampler(c)->reads_classes ? draw_step(c, step).batch.tokens : Ids();
    return draw_positions(c, step, slots_of(draw_length(c, step)), tokens);
  };
  const auto test = [c, slots_of](int length, int n) {
    const int first = n * sub_batch(slots_of(length));
    return test_draw(c, length, first, 1, slots_of(length), test_batch(c, length, first, 1).tokens);
  };
  return {c.scheme,
          c.on("causal"),
          done,
          training,
          test,
          layers(sampler(c)),
          layers(test_sampler(c)),
          test_sampler(c)->random ? most_test_draws : 1};
}

Coverage met(Met what, const Draws& d, const std::vector<int>& lengths) {
  const auto count = [&](int layers, const PositionSample& draw, Coverage& made, Histogram& counts) {
    if (what == Met::positions) count_positions(draw.at_embedding(), d.scheme->name, made, counts);
    if (what == Met::gaps) count_gaps(draw.at_embedding(), made, counts);
    for (int layer = 0; what == Met::distances && layer < layers; ++layer)
      count_distances(draw.at_layer(layer), d.causal, made, counts);
  };
  return counted_by(count, d, lengths);
}

}  // namespace

Coverage coverage(const Draws& d, const std::vector<int>& lengths) {
  const Reads what = counted(d.scheme);
  if (what == Reads::nothing) return counted_by([](int, const PositionSample&, Coverage&, Histogram&) {}, d, lengths);
  return met(what == Reads::positions ? Met::positions : Met::distances, d, lengths);
}

Coverage coverage(const RunSpec& c, const std::vector<int>& lengths, int64_t done) {
  return coverage(draws_of(c, lengths, done), lengths);
}

Coverage coverage(Met what, const RunSpec& c, const std::vector<int>& lengths, int64_t done) {
  return met(what, draws_of(c, lengths, done), lengths);
}

double in_common(const Histogram& a, const Histogram& b) {
  double common = 0;
  const double all_a = double(total(a)), all_b = double(total(b));
  for (const auto& [value, n] : b)
    if (const auto same = a.find(value); same != a.end())
      common += std::min(double(n) / all_b, double(same->second) / all_a);
  return common;
}

}  // namespace poslab
