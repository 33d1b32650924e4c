// A sampler's draws, and which positions, distances and gaps of each length occur in training.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "encodings/samplers.h"
#include "experiment/coverage.h"
#include "lab/files/shell.h"
#include "lab/pages/show/views.h"

namespace poslab::show {
namespace {

constexpr int draws = 24, bins = 96, training_draws = 2000, test_draws = 32;

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

// Positions of `slots` slots, in the nth draw of training or test.
std::vector<double> drawn(const Subject& s, const Chosen<Sampler>& sampler, Purpose purpose, int n, int slots) {
  Rng rng(stream(s.seed, purpose, uint64_t(n)));
  return sample(sampler, {1, slots}, rng).tokens(sampler.spelled());
}

std::vector<double> gaps(const std::vector<double>& p) {
  std::vector<double> between;
  for (size_t t = 1; t < p.size(); ++t) between.push_back(p[t] - p[t - 1]);
  return between;
}

// The sampler of the first scheme with a position for each token, in the form that the scheme reads; null if none has.
const Chosen<Sampler>* sampler_of(const Subject& s) {
  for (const Shown& shown : s.shown)
    if (shown.sampler->draw && !shown.sampler->only_offsets) return &shown.sampler;
  return nullptr;
}

}  // namespace

std::optional<View> positions_view(const Subject& s) {
  const Chosen<Sampler>* sampler = sampler_of(s);
  if (!sampler) return {};
  View view{
      .name = "positions",
      .title = fmt::format("Positions that {} draws", sampler->spelled()),
      .reading = fmt::format("Each row is a draw of {} slots; a cell counts the slots with a position there.", s.slots),
      .row = "draw",
      .col = "position"};
  const int rows = (*sampler)->random ? draws : 1;
  std::vector<std::vector<double>> all;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (int n = 0; n < rows; ++n) {
    all.push_back(drawn(s, *sampler, Purpose::positions, n, s.slots));
    for (const double p : all.back()) low = std::min(low, p), high = std::max(high, p);
  }
  const double width = std::max(1., std::ceil((high - low + 1) / bins));
  const int cols = int((high - low) / width) + 1;
  Matrix strips{fmt::format("{}, {} a cell", sampler->spelled(), counted(size_t(width), "position")),
                rows,
                cols,
                {std::vector<double>(size_t(rows) * size_t(cols), 0.)}};
  for (int n = 0; n < rows; ++n)
    for (const double p : all[size_t(n)]) ++strips.heads[0][size_t(n) * size_t(cols) + size_t((p - low) / width)];
  view.matrices.push_back(std::move(strips));

  page::Chart c{"gaps", "Gaps between neighbours", "gap", "share of neighbours"};
  c.unit = "gap", c.percent = true;
  view.table = {"gaps between neighbours: how often each range occurs",
                {"slots", "mean gap", "1 or less", "2 to 4", "5 to 16", "17 to 64", "more"},
                {}};
  for (const int slots : {s.train_length, 4 * s.train_length, 12 * s.train_length}) {
    std::map<long, int> count;
    double sum = 0;
    int total = 0, ranges[5] = {0, 0, 0, 0, 0};
    try {
      for (int n = 0; n < ((*sampler)->random ? 200 : 1); ++n)
        for (const double gap : gaps(drawn(s, *sampler, Purpose::positions, n, slots))) {
          ++count[std::lround(gap)], ++total, sum += gap;
          ++ranges[gap < 1.5 ? 0 : gap < 4.5 ? 1 : gap < 16.5 ? 2 : gap < 64.5 ? 3 : 4];
        }
    } catch (const BadInput&) { continue; }  // too few positions
    if (total == 0) continue;                // a single slot has no neighbour
    c.curves.push_back({fmt::format("{} slots", slots), int(c.curves.size()), {}});
    for (const auto& [gap, times] : count)
      if (gap <= 128) c.curves.back().points.push_back({double(gap), double(times) / total});
    view.table.rows.push_back({std::to_string(slots), fmt::format("{:.3g}", sum / total)});
    for (const int n : ranges) view.table.rows.back().push_back(percent(double(n) / total));
  }
  page::fit(c, 0, 0);
  c.x_low = 0, c.x_high = std::max(1., c.x_high);
  c.y_high = std::clamp(std::ceil(10 * c.y_high) / 10, 0.1, 1.);
  const auto varies = [](const page::Curve& curve) { return curve.points.size() > 1; };
  if (std::any_of(c.curves.begin(), c.curves.end(), varies)) view.charts.push_back(std::move(c));
  return view;
}

std::optional<View> coverage_view(const Subject& s) {
  const Chosen<Sampler>* sampler = sampler_of(s);
  if (!sampler || pool_of(*sampler) < s.train_length) return {};
  View view{.name = "coverage",
            .title = "Seen in training",
            .reading = fmt::format("Training draws strings of up to {} slots in {} steps. At each test length: the "
                                   "share of positions, of distances between slots, and of gaps between neighbours "
                                   "that have occurred in training, rounded to whole numbers. `as often`: the "
                                   "overlap of the test's gaps with the training's, both as shares of all gaps.",
                                   s.train_length, training_draws)};
  enum Kind { positions, distances, between, kinds };
  const auto count = [](const std::vector<double>& p, std::array<Histogram, kinds>& all) {
    for (size_t i = 0; i < p.size(); ++i) {
      ++all[positions][int(std::lround(p[i]))];
      for (size_t j = 0; j < i; ++j) ++all[distances][int(std::lround(p[i] - p[j]))];
      if (i) ++all[between][int(std::lround(p[i] - p[i - 1]))];
    }
  };
  const auto total = [](const Histogram& c) {
    double sum = 0;
    for (const auto& [value, n] : c) sum += double(n);
    return sum;
  };
  std::array<Histogram, kinds> trained;
  for (int n = 0; n < training_draws; ++n) {
    const int slots = 1 + int(Rng(stream(s.seed, Purpose::length, uint64_t(n))).below(uint32_t(s.train_length)));
    count(drawn(s, at_step(*sampler, n, slots), Purpose::positions, n, slots), trained);
  }
  page::Chart c{"coverage", view.title, "slots at test", "share seen in training"};
  c.unit = "slots", c.percent = true;
  c.curves = {{"positions", 0, {}}, {"distances", 1, {}}, {"gaps", 2, {}}, {"gaps, as often", 3, {}}};
  std::vector<double> lengths;
  for (const double times : {0.25, 0.5, 1., 1.5, 2., 3., 4., 6., 8., 12.5}) {
    const int slots = std::max(2, int(times * s.train_length));
    std::array<Histogram, kinds> met;
    try {
      for (int n = 0; n < ((*sampler)->random ? test_draws : 1); ++n)
        count(drawn(s, *sampler, Purpose::test_positions, n, slots), met);
    } catch (const BadInput&) { continue; }  // too few positions
    lengths.push_back(slots);
    for (size_t kind = 0; kind < kinds; ++kind) {
      double known = 0;
      for (const auto& [value, n] : met[kind]) known += trained[kind].count(value) ? double(n) : 0;
      c.curves[kind].points.push_back({double(slots), known / total(met[kind])});
    }
    c.curves.back().points.push_back({double(slots), in_common(trained[between], met[between])});
  }
  view.table = table_of("share of a test's values seen in training", "slots", c.curves, lengths, percent);
  page::fit(c);
  c.y_low = 0, c.y_high = 1, c.shaded = s.train_length;
  view.charts.push_back(std::move(c));
  return view;
}

}  // namespace poslab::show
