#include "lab/papers/compare/ranking.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiment/build.h"
#include "lab/papers/compare/pictures.h"
#include "lab/papers/compare/words.h"
#include "lab/papers/pivot.h"
#include "lab/papers/ruoss2023/ruoss2023.h"

namespace poslab::compare {

using namespace reproduce;
using namespace reproduce::ruoss2023;

namespace {

using nlohmann::json;

int64_t parameters(const Entry& e) {
  for (const auto& [task, summary] : e.tasks)
    for (const Outcome* o : summary.at_lr)
      if (o->record.parameters) return *o->record.parameters;
  return 0;
}

Cell on_task(const Entry& e, const std::string& task) {
  const Summary& s = e.tasks.at(task);
  return {points(s.mean), interval_text(s.interval, false)};
}

// A row for each scheme, and where they belong in it the baselines.
Grid ranked_grid(const Ranking& r, const std::vector<std::string>& tasks) {
  Grid grid{"Accuracy in % on unseen lengths, with its interval over the seeds",
            {"encoding", "rank", "seeds", "mean", "minus none"},
            {}};
  for (const std::string& task : tasks) grid.head.push_back(task);
  for (const char* more : {"at trained lengths", "parameters", "time of a step"}) grid.head.push_back(more);
  const auto baseline_row = [&](const std::string& name, double mean) {
    std::vector<Cell> row = {{name}, {"–"}, {"–"}, {points(mean)}, {"–"}};
    for (const std::string& task : tasks) {
      const auto b = baselines(r, task);
      row.push_back({!b                   ? "–"
                     : name == "chance"    ? points(b->chance)
                     : name == "majority" ? points(b->majority)
                                          : points(b->content_only)});
    }
    row.resize(grid.head.size(), {"–"});
    grid.rows.push_back(std::move(row));
  };
  std::vector<std::pair<std::string, double>> waiting = mean_baselines(r);
  std::stable_sort(waiting.begin(), waiting.end(), [](auto& a, auto& b) { return a.second > b.second; });
  auto next = waiting.begin();
  int rank = 0;
  for (const Entry& e : r.ranked) {
    for (; next != waiting.end() && next->second > e.mean; ++next) baseline_row(next->first, next->second);
    std::vector<Cell> row = {
        {e.name},
        {fmt::format("{}", ++rank)},
        {fmt::format("{}", e.scores.size())},
        {points(e.mean), interval_text(e.interval, false), e.ties},
        {signed_points(e.ahead.mean), interval_text(e.ahead.interval, true), e.ahead.interval.excludes(0)}};
    for (const std::string& task : tasks) row.push_back(on_task(e, task));
    row.push_back({points(e.trained)});
    row.push_back({parameters(e) ? fmt::format("{}", parameters(e)) : "–"});
    row.push_back({std::isnan(e.time) ? "–" : fmt::format("{:.1f}", e.time)});
    grid.rows.push_back(std::move(row));
  }
  for (; next != waiting.end(); ++next) baseline_row(next->first, next->second);
  return grid;
}

// A row for each scheme and task, and one for the mean of those that count, which alone has a rank. Accuracies are
// fractions.
Table data(const Ranking& r, const std::vector<std::string>& tasks) {
  Table table{
      {"encoding", "positions",  "causal",       "task",          "rank",       "runs",           "planned",
       "seeds",    "mean",       "interval_low", "interval_high", "minus_none", "minus_none_low", "minus_none_high",
       "trained",  "parameters", "time_of_none", "chance",         "majority",   "content_only"},
      {}};
  const auto none = std::find_if(r.ranked.begin(), r.ranked.end(), [](const Entry& e) { return e.name == "none"; });
  const auto row = [&](const Entry& e, const std::string& task, json rank, int runs, int planned, size_t seeds,
                       double mean, Interval i, const Paired& ahead) -> std::vector<json>& {
    table.rows.push_back({e.name, e.trial->config()["positions"], e.trial->config().on("causal") ? "on" : "off", task,
                          std::move(rank), runs, planned, seeds, number(mean), number(i.low), number(i.high),
                          number(ahead.mean), number(ahead.interval.low), number(ahead.interval.high)});
    return table.rows.back();
  };
  const auto add = [&](const Entry& e, json rank) {
    int runs = 0, planned = 0;
    for (const std::string& task : tasks) {
      const Summary& s = e.tasks.at(task);
      const Paired ahead =
          none == r.ranked.end() || none->name == e.name ? Paired{} : paired(s.by_seed, none->tasks.at(task).by_seed);
      std::vector<json>& cells = row(e, task, nullptr, s.runs, s.planned, s.by_seed.size(), s.mean, s.interval, ahead);
      for (const json& one : {number(trained(e, {task})), parameters(e) ? json(parameters(e)) : json(),
                              none == r.ranked.end() ? json() : number(time_of(e, *none, {task}))})
        cells.push_back(one);
      for (const json& one : baseline_cells(s)) cells.push_back(one);
      if (std::count(r.tasks.begin(), r.tasks.end(), task)) runs += s.runs, planned += s.planned;
    }
    if (rank.is_null()) return;
    std::vector<json>& cells = row(e, "mean", rank, runs, planned, e.scores.size(), e.mean, e.interval, e.ahead);
    for (const json& one : {number(e.trained), parameters(e) ? json(parameters(e)) : json(), number(e.time)})
      cells.push_back(one);
    for (const auto& [name, value] : mean_baselines(r)) cells.push_back(value);
    cells.resize(table.columns.size());
  };
  for (size_t n = 0; n < r.ranked.size(); ++n) add(r.ranked[n], n + 1);
  for (const Entry& e : r.unranked) add(e, nullptr);
  return table;
}

}  // namespace

Section ranking(const Outcomes& outcomes, const Choices&) {
  const Ranking r = rank(outcomes);
  std::vector<std::string> tasks = outcomes.tasks();
  std::erase_if(tasks, [&](auto& task) { return !baselines(r, task); });  // nothing is done of it
  const std::string id = !outcomes.plan().empty() && outcomes.plan()[0].config().on("causal") ? "causal" : "ranking";
  Section s;
  s.readings = sentences(r);
  if (!r.ranked.empty()) {
    s.grids.push_back(ranked_grid(r, tasks));
    s.pictures.push_back(dots(r, id + "-dots"));
  }
  std::vector<Entry> others = r.unranked;
  std::erase_if(others, [&](const Entry& e) {
    return std::none_of(tasks.begin(), tasks.end(), [&](auto& task) { return e.tasks.at(task).runs > 0; });
  });
  if (!others.empty())
    add(s, {"Not ranked, as not all of the tasks that count are done", "encoding",
            lines(others, [](const Entry& e) { return Line{{e.name}}; }), lines(tasks),
            [&](size_t e, size_t task) -> Value { return {on_task(others[e], tasks[task])}; }});
  for (const std::string& task : tasks)
    if (Picture p = lengths(r, task, fmt::format("{}-lengths-{}", id, task)); !p.html.empty())
      s.pictures.push_back(std::move(p));
  s.notes = remarks(r, outcomes);
  s.data = data(r, tasks);
  return s;
}

}  // namespace poslab::compare
