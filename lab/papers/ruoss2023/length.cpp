// Figures 3 and 4: accuracy against length, and against the size of the pool of positions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lab/pages/page/page.h"
#include "lab/papers/ruoss2023/ruoss2023.h"

namespace poslab::reproduce::ruoss2023 {
using namespace page;

Section fig4(const Outcomes& outcomes, const Choices&) {
  Section s;
  s.data = {{"task", "encoding", "positions", "length", "accuracy", "seeds", "chance", "majority", "content_only"}, {}};
  for (const std::string& task : outcomes.tasks())
    for (const char* positions : {"sequential", "randomized"}) {
      Chart chart = accuracy_chart(fmt::format("lengths-{}-{}", task, positions),
                                   fmt::format("Accuracy against length, {}, positions {}", task, positions),
                                   "length of the input", 1, 2);
      std::vector<AtLength> longest;
      for (const Column& c : columns()) {
        if (c.positions != positions) continue;
        const Summary sum = outcomes.summary(is(task, c));
        const std::vector<AtLength> curve = mean_curve(sum);
        if (curve.empty()) continue;
        add_curve(chart, by_length(c.name, c.color, curve));
        chart.x_high = std::max(chart.x_high, double(curve.back().length));
        chart.shaded = sum.at_lr[0]->trial->config().whole("train_length");
        if (curve.size() > longest.size()) longest = curve;
        for (const AtLength& row : curve)
          s.data.rows.push_back({task, c.encoding, c.positions, row.length, row.accuracy, sum.at_lr.size(),
                                 row.baselines.chance, row.baselines.majority, row.baselines.content_only});
      }
      if (chart.curves.empty()) continue;
      add_baselines(chart, longest);
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
  s.data = {{"task", "max_position", "runs", "best", "seeds", "mean", "interval_low", "interval_high", "chance",
             "majority", "content_only"},
            {}};
  std::set<int> all;
  for (const Outcome& o : outcomes.done()) all.insert(o.trial->config().whole("max_position"));
  const std::vector<int> pools(all.begin(), all.end());
  const std::vector<std::string> tasks = outcomes.tasks();
  const int usual = defaults.whole("max_position");
  const auto with = [&](const std::string& task, int pool) {
    return outcomes.summary([&](const Choices& c) { return c["task"] == task && c.whole("max_position") == pool; });
  };
  add(s,
      {fmt::format("R-Relative by the size of the pool that positions are drawn from: mean accuracy in %, then "
                   "its interval, then that of the difference to {} in points, over paired seeds",
                   usual),
       "task", of_tasks(outcomes), lines(pools), [&](size_t t, size_t p) {
         const Summary sum = with(tasks[t], pools[p]);
         const Interval i =
             pools[p] == usual ? Interval{} : paired(sum.by_seed, with(tasks[t], usual).by_seed).interval;
         Value v{{points(sum.mean), interval_text(sum.interval, false), i.excludes(0)}, {sum.runs, number(sum.best)}};
         if (!std::isnan(i.low)) v.cell.below += "\n" + interval_text(i, true);
         for (const auto& more : {by_seed_data(sum.by_seed), baseline_cells(sum)})
           v.data.insert(v.data.end(), more.begin(), more.end());
         return v;
       }});
  for (const std::string& task : tasks) {
    std::vector<double> means;
    for (const int pool : pools)
      if (const Summary sum = with(task, pool); sum.runs) means.push_back(sum.mean);
    if (means.size() < 2) continue;
    const auto [low, high] = std::minmax_element(means.begin(), means.end());
    s.readings.push_back(fmt::format("{}: between {} and {} % over pools of {} to {} positions.", task, points(*low),
                                     points(*high), pools.front(), pools.back()));
  }
  s.notes = {how_many(outcomes), about_intervals(outcomes),
             "The paper draws this as a picture without numbers (pools of 1024 to 8192, as recalled) and says that the "
             "size hardly matters."};
  return s;
}

}  // namespace poslab::reproduce::ruoss2023
