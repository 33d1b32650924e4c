// Trained models tested on a grid of lengths and of gaps between neighbours, at trained lengths and beyond.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiment/build.h"
#include "lab/pages/page/page.h"
#include "lab/papers/gap_shift/gap_shift.h"

namespace poslab::reproduce::gap_shift {
namespace {

// Test positions of a mean gap, in a column of the table.
struct Spacing {
  std::string column, kind, positions;
  double gap;
  bool inside;  // no position beyond the pool, which training has met
};

// 1, 2, 4, ... as far as a pool and the longest trained input allow
std::vector<int> gap_columns(const Choices& c) {
  std::vector<int> all;
  for (int gap = 1; gap <= std::max(1, c.whole("max_position") / c.whole("train_length")); gap *= 2) all.push_back(gap);
  return all;
}

std::vector<Spacing> spacings(const Choices& c, int length) {
  const int n = slots(c, length), pool = c.whole("max_position");
  std::vector<Spacing> all;
  for (const int gap : gap_columns(c)) {
    const std::string column = fmt::format("gap {}", gap);
    if (gap > 1) all.push_back({column, "random", scattered(gap), double(gap), gap * (n + 1) - 1 <= pool});
    all.push_back({column, "even", fmt::format("stretched:gap={}", gap), double(gap), gap * (n - 1) < pool});
  }
  all.push_back({"counted", "even", "contiguous", 1, true});
  all.push_back({"evenly spread", "even", "evenly_spread", n > 1 ? (pool - 1.) / (n - 1) : 0, true});
  all.push_back({"as trained", "random", "same", own_gap(c, length), true});
  return all;
}

using Row = std::map<std::string, BySeed>;  // by Spacing::positions

// One number in a column, or two where spacing is random and even: the second stands below.
std::vector<Cell> cells(const std::vector<Spacing>& all, const Row& row) {
  std::vector<Cell> made;
  std::string column;
  for (const Spacing& s : all) {
    const std::string text = points(mean(row.at(s.positions))) + (s.inside ? "" : "†");
    if (s.column != column)
      made.push_back({text});
    else
      made.back().below = "even " + text;
    column = s.column;
  }
  return made;
}

// Accuracy against the mean gap: random spacing, that of training too; gap 1 has only one. Faint beyond the pool.
page::Curve curve(const std::vector<Spacing>& all, const Row& row, int length, int color) {
  std::vector<Spacing> drawn;
  for (const Spacing& s : all)
    if (s.kind == "random" || s.column == "gap 1") drawn.push_back(s);
  std::stable_sort(drawn.begin(), drawn.end(), [](const Spacing& a, const Spacing& b) { return a.gap < b.gap; });
  page::Curve c{fmt::format("length {}", length), color, {}, {}};
  for (const Spacing& s : drawn) {
    const BySeed& seeds = row.at(s.positions);
    if (s.inside) {
      add_point(c, s.gap, seeds);
      continue;
    }
    if (c.behind.empty() && !c.points.empty()) c.behind.push_back(c.points.back());
    c.behind.push_back({s.gap, mean(seeds)});
  }
  return c;
}

Grid empty_table(const Choices& c) {
  Grid table{fmt::format("{}: accuracy in % by length and by the mean gap between neighbours, random and, below, in "
                         "equal steps",
                         c["task"]),
             {"encoding, length"},
             {}};
  for (const int gap : gap_columns(c)) table.head.push_back(fmt::format("gap {}", gap));
  for (const char* name : {"counted", "evenly spread", "as trained"}) table.head.push_back(name);
  return table;
}

page::Chart empty_chart(const Choices& c, const std::string& encoding) {
  page::Chart chart = accuracy_chart(fmt::format("grid-{}-{}", c["task"], encoding),
                                     fmt::format("Accuracy against the mean gap, {}, {}", c["task"], encoding),
                                     "mean gap between neighbours at test", 1,
                                     std::max({2., double(gap_columns(c).back()), own_gap(c, lengths(c).front())}));
  chart.description =
      fmt::format("Strings of lengths {} with random positions of a given mean gap.", fmt::join(lengths(c), ", "));
  chart.unit = "gap";
  return chart;
}

// The longest trained one of `lengths`.
int trained_length(const Choices& c) {
  int longest = 0;
  for (const int length : lengths(c)) longest = length <= c.whole("train_length") ? length : longest;
  return longest;
}

std::string reading(const Choices& c, const std::string& encoding, int length, const Row& row) {
  return fmt::format(
      "{} on {}, length {}: {} % as trained (mean gap {:.3g}), {} % counted from a random start (gap 1), "
      "{} % evenly spread over the pool.",
      encoding, c["task"], length, points(mean(row.at("same"))), own_gap(c, length), points(mean(row.at("contiguous"))),
      points(mean(row.at("evenly_spread"))));
}

}  // namespace

Section grid(const Outcomes& outcomes, const Choices& defaults) {
  Section s;
  s.data = by_seed_table({"task", "encoding", "length", "spacing", "test_positions", "mean_gap", "within_pool"},
                         "accuracy", false);
  s.data.columns.push_back("majority");
  const std::vector<Setting> all = settings(outcomes, defaults);
  Tests tests(all);
  std::string task;
  for (const Setting& setting : all) {
    if (setting.models.at_lr.empty()) continue;
    const Choices c = on_task(defaults, setting.task);
    if (setting.task != task) s.grids.push_back(empty_table(c));
    task = setting.task;
    std::vector<Test> asked;
    for (const int length : lengths(c))
      for (const Spacing& spacing : spacings(c, length)) asked.push_back({length, spacing.positions});
    const std::vector<BySeed> accuracy = tests(setting, asked, strings(c));
    page::Chart chart = empty_chart(c, setting.encoding);
    auto next = accuracy.begin();
    for (const int length : lengths(c)) {
      const std::vector<Spacing> across = spacings(c, length);
      const double majority = scale(c, length).majority;
      Row row;
      for (const Spacing& one : across) {
        const BySeed& seeds = row[one.positions] = *next++;
        Value v{{}, by_seed_data(seeds)};
        v.data.push_back(majority);
        add_data(s, {{}, {task, setting.encoding, length}}, {{}, {one.kind, one.positions, one.gap, one.inside}}, v);
      }
      std::vector<Cell> line = {{fmt::format("{}, {}", setting.encoding, length),
                                 fmt::format("{}majority {}", partly(setting.models), points(majority))}};
      for (Cell& cell : cells(across, row)) line.push_back(std::move(cell));
      s.grids.back().rows.push_back(std::move(line));
      chart.curves.push_back(curve(across, row, length, int(chart.curves.size())));
      if (length == trained_length(c)) s.readings.push_back(reading(c, setting.encoding, length, row));
    }
    s.pictures.push_back(picture(chart, fmt::format("<b>{}, {}.</b> Random spacing, the last point of a line as "
                                                    "trained; mean over seeds with its interval. "
                                                    "Faint: positions beyond the pool.",
                                                    page::headed(task), setting.encoding)));
  }
  if (s.grids.empty()) s.readings.push_back("No model can be tested yet.");
  s.notes = {
      how_many(outcomes),
      fmt::format("Each cell: the mean over seeds of {} strings. Trained with uniform random positions of a pool "
                  "of {}; lengths to {} were trained.",
                  strings(defaults), defaults.whole("max_position"), defaults.whole("train_length")),
      "Gap: random positions of that mean gap (`scattered`), and below in equal steps (`stretched`), both from "
      "the start of the pool. Counted: gap 1 from a random start (`contiguous`). As trained: uniform sampling, "
      "whose gap falls with the length.",
      "†: some positions lie beyond the pool, so that training has not met them: a second change beside the gap.",
      about_intervals(outcomes) + " They are in the .csv and in the charts."};
  return s;
}

}  // namespace poslab::reproduce::gap_shift
