#include "experiment/coverage.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/lengths.h"
#include "experiment/step.h"

namespace poslab {
namespace {

constexpr int64_t most_counted_steps = 2000;
constexpr int test_draws = 64;  // at each length

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
  const int S = d.pairs ? p.sequences() : 1, T = p.time();
  std::vector<int64_t> pairs(d.value.size(), 0);
  for (int s = 0; s < S; ++s)
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

void count(const Config& c, const Chosen<Sampler>& sampler, const PositionSample& draw, Coverage& made,
           Histogram& counts) {
  const bool different = sampler->parts || (c.resample == "per_layer" && sampler->random);
  const bool each_layer = different && made.counted == Reads::distances;
  for (int layer = 0; layer < (each_layer ? c.layers : 1); ++layer) {
    if (made.counted == Reads::positions) count_positions(draw.at_layer(layer), c.encoding, made, counts);
    if (made.counted == Reads::distances) count_distances(draw.at_layer(layer), c.causal, made, counts);
  }
}

Reads counted(const Config& c) {
  const Chosen<Scheme> s = scheme(c);
  if (s->embed) return Reads::positions;
  return reads(s) == Reads::nothing || reads(s) == Reads::slots ? Reads::nothing : Reads::distances;
}

// Share of what was counted at test whose value occurred in training; NaN of nothing.
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

// `counts` adds what is counted of one draw of a sampler.
using Counts = std::function<void(const Chosen<Sampler>&, const PositionSample&, Coverage&, Histogram&)>;

Coverage counted_by(const Counts& count, const Config& c, const std::vector<int>& lengths, int64_t done) {
  check_lengths(c, lengths);
  Coverage made{counted(c), std::min(done, most_counted_steps), false, {}, {}};
  // A task may draw shorter strings than asked for, so a string says how many slots a length has.
  std::map<int, int> slots;
  const auto slots_of = [&](int length) {
    int& known = slots[length];
    return known ? known : known = test_batch(c, length, 0, 1).tokens.shape()[1];
  };
  for (int64_t n = 0; n < made.steps; ++n) {
    const int64_t step = n * done / made.steps;
    const Ids tokens = train_sampler(c)->reads_classes ? draw_step(c, step).batch.tokens : Ids();
    count(train_sampler(c), draw_positions(c, step, slots_of(draw_length(c, step)), tokens), made, made.trained);
  }
  for (const int length : lengths) {
    Coverage::Test test{length, {}, 0};
    const int cut = sub_batch(slots_of(length));
    for (int n = 0; n < (test_sampler(c)->random ? test_draws : 1); ++n)
      count(test_sampler(c),
            test_draw(c, length, n * cut, 1, slots_of(length), test_batch(c, length, n * cut, 1).tokens), made,
            test.met);
    test.seen = seen(made.trained, test.met);
    made.tests.push_back(std::move(test));
  }
  return made;
}

}  // namespace

Coverage coverage(const Config& c, const std::vector<int>& lengths, int64_t done) {
  return counted_by([&](const auto& sampler, const auto& draw, Coverage& made,
                        Histogram& counts) { count(c, sampler, draw, made, counts); },
                    c, lengths, done);
}

Coverage gaps(const Config& c, const std::vector<int>& lengths) {
  return counted_by([](const auto&, const PositionSample& draw, Coverage& made,
                       Histogram& counts) { count_gaps(draw.at_embedding(), made, counts); },
                    c, lengths, c.steps);
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
