// Figures 3 and 4: accuracy against length, and against the size of the pool of positions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lab/pages/page/page.h"
#include "lab/papers/ruoss2023/ruoss2023.h"

namespace poslab::reproduce::ruoss2023 {
namespace {

using namespace page;

template <class Value>
Curve line(const std::string& name, int color, const std::vector<AtLength>& curve, const Value& value) {
  Curve c{name, color, {}, {}};
  for (const AtLength& row : curve) c.points.push_back({double(row.length), value(row)});
  return c;
}
Curve baseline(const std::string& name, const std::vector<AtLength>& curve, double Baselines::*value) {
  return line(name, Curve::baseline, curve, [value](const AtLength& row) { return row.baselines.*value; });
}

void describe(Chart& chart) {
  for (const Curve& c : chart.curves)
    if (c.color >= 0 && !c.points.empty())
      chart.description += fmt::format("{}: {:.1f} % at {}, {:.1f} % at {}. ", c.name, 100 * c.points.front().y,
                                       c.points.front().x, 100 * c.points.back().y, c.points.back().x);
}

}  // namespace

Section fig4(const Outcomes& outcomes, const Choices&) {
  Section s;
  s.data = {{"task", "encoding", "positions", "length", "accuracy", "seeds", "guess", "majority", "content_only"}, {}};
  for (const std::string& task : outcomes.tasks())
    for (const char* positions : {"sequential", "randomized"}) {
      Chart chart{fmt::format("lengths-{}-{}", task, positions),
                  fmt::format("Accuracy against length, {}, positions {}", task, positions),
                  "",
                  "length of the input",
                  "accuracy",
                  1,
                  2,
                  0,
                  1,
                  true,
                  false,
                  0,
                  {}};
      std::vector<AtLength> longest;
      for (const Column& c : columns()) {
        if (c.positions != positions) continue;
        const Summary sum = outcomes.summary(is(task, c));
        const std::vector<AtLength> curve = mean_curve(sum);
        if (curve.empty()) continue;
        chart.curves.push_back(line(c.name, c.color, curve, [](const AtLength& row) { return row.accuracy; }));
        chart.x_high = std::max(chart.x_high, double(curve.back().length));
        chart.shaded = sum.at_lr[0]->trial->config().whole("train_length");
        if (curve.size() > longest.size()) longest = curve;
        for (const AtLength& row : curve)
          s.data.rows.push_back({task, c.encoding, c.positions, row.length, row.accuracy, sum.at_lr.size(),
                                 row.baselines.chance, row.baselines.majority, row.baselines.content_only});
      }
      if (chart.curves.empty()) continue;
      describe(chart);
      chart.curves.push_back(baseline("guess", longest, &Baselines::chance));
      chart.curves.push_back(baseline("majority", longest, &Baselines::majority));
      chart.curves.push_back(baseline("content only", longest, &Baselines::content_only));
      s.pictures.push_back(picture(
          chart,
          fmt::format("<b>{}, {} positions.</b> Mean over the seeds; dashed: what is reached without reading the order "
                      "of the symbols.",
                      headed(task), positions)));
    }
  s.notes = {how_many(outcomes),
             "The shaded lengths were trained on. Where an encoding has several learning rates, of those with the "
             "most seeds done the one whose mean over unseen lengths is best is drawn."};
  return s;
}

Section fig3(const Outcomes& outcomes, const Choices& defaults) {
  Section s;
  s.data = {{"task", "max_position", "runs", "best", "seeds", "mean", "interval_low", "interval_high", "guess",
             "majority", "content_only"},
            {}};
  std::set<int> pools;
  for (const Outcome& o : outcomes.done()) pools.insert(o.trial->config().whole("max_position"));
  Grid grid{fmt::format("R-Relative by the size of the pool that positions are drawn from: mean accuracy in %, then "
                        "its interval, then that of the difference to {} in points, over paired seeds",
                        defaults.whole("max_position")),
            {"task"},
            {}};
  for (int pool : pools) grid.head.push_back(fmt::format("{}", pool));
  for (const std::string& task : outcomes.tasks()) {
    std::vector<Cell> row = {task_cell(outcomes, task)};
    std::vector<double> means;
    const auto with = [&](int pool) {
      return outcomes.summary([&](const Choices& c) { return c["task"] == task && c.whole("max_position") == pool; });
    };
    const Summary middle = with(defaults.whole("max_position"));
    for (int pool : pools) {
      const Summary sum = with(pool);
      const Interval difference = paired(sum.by_seed, middle.by_seed).interval;
      row.push_back({points(sum.mean), interval_text(sum.interval, false),
                     pool != defaults.whole("max_position") && difference.excludes(0)});
      if (pool != defaults.whole("max_position") && !std::isnan(difference.low))
        row.back().below += fmt::format("\n{}", interval_text(difference, true));
      if (sum.runs) means.push_back(sum.mean);
      s.data.rows.push_back({task, pool, sum.runs, number(sum.best), sum.by_seed.size(), number(sum.mean),
                             number(sum.interval.low), number(sum.interval.high)});
      for (const nlohmann::json& baseline : baseline_cells(sum)) s.data.rows.back().push_back(baseline);
    }
    grid.rows.push_back(std::move(row));
    if (means.size() > 1) {
      const auto [low, high] = std::minmax_element(means.begin(), means.end());
      s.readings.push_back(fmt::format("{}: between {} and {} % over pools of {} to {} positions.", task, points(*low),
                                       points(*high), *pools.begin(), *pools.rbegin()));
    }
  }
  s.grids = {grid};
  s.notes = {how_many(outcomes), about_intervals(outcomes),
             "The paper draws this as a picture without numbers (pools of 1024 to 8192, as recalled) and says that the "
             "size hardly matters."};
  return s;
}

}  // namespace poslab::reproduce::ruoss2023
