#include "lab/papers/compare/pictures.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/pages/page/page.h"
#include "lab/papers/wording.h"

namespace poslab::compare {

using page::Chart, page::Curve, page::DotPlot, page::DotRow, page::figure, page::headed;
using namespace reproduce;

namespace {

constexpr size_t few = 5;  // curves of a chart

constexpr std::pair<const char*, double Baselines::*> kinds[] = {
    {"chance", &Baselines::chance}, {"majority", &Baselines::majority}, {"content only", &Baselines::content_only}};

// Those with the best means on a task, and `none` after them.
std::vector<const Entry*> best_on(const Ranking& r, const std::string& task) {
  std::vector<const Entry*> all;
  for (const std::vector<Entry>* list : {&r.ranked, &r.unranked})
    for (const Entry& e : *list)
      if (e.tasks.at(task).runs) all.push_back(&e);
  std::stable_sort(all.begin(), all.end(),
                   [&](auto* a, auto* b) { return a->tasks.at(task).mean > b->tasks.at(task).mean; });
  const auto none = std::find_if(all.begin(), all.end(), [](auto* e) { return e->name == "none"; });
  const Entry* last = none == all.end() ? nullptr : *none;
  if (all.size() > few) all.resize(few);
  if (last && std::find(all.begin(), all.end(), last) == all.end()) all.push_back(last);
  return all;
}

}  // namespace

std::optional<Baselines> baselines(const Ranking& r, const std::string& task) {
  std::vector<const Outcome*> runs;
  for (const std::vector<Entry>* list : {&r.ranked, &r.unranked})
    for (const Entry& e : *list) runs.insert(runs.end(), e.tasks.at(task).at_lr.begin(), e.tasks.at(task).at_lr.end());
  return baselines_of(runs);
}

std::vector<std::pair<std::string, double>> mean_baselines(const Ranking& r) {
  std::vector<std::pair<std::string, double>> all;
  for (const auto& [name, field] : kinds) {
    std::vector<double> each;
    for (const std::string& task : r.tasks)
      if (const auto b = baselines(r, task)) each.push_back((*b).*field);
    if (!each.empty() && each.size() == r.tasks.size()) all.emplace_back(name, mean(each));
  }
  return all;
}

Picture dots(const Ranking& r, const std::string& id) {
  DotPlot plot{
      id, "Accuracy on unseen lengths, by encoding", "", "accuracy on unseen lengths", r.tasks, mean_baselines(r), {}};
  for (const Entry& e : r.ranked) {
    DotRow row{e.name, {}, e.mean, e.interval.low, e.interval.high};
    for (const std::string& task : r.tasks) row.dots.push_back(e.tasks.at(task).mean);
    plot.rows.push_back(std::move(row));
    if (plot.rows.size() <= few) plot.description += fmt::format("{}: {} %. ", e.name, points(e.mean));
  }
  return {fmt::format("<figure>{}<figcaption><b>Accuracy on unseen lengths.</b> A row for each encoding, the best "
                      "first; a dot for each task; dashed: means of what is reached without reading the order of the "
                      "symbols.</figcaption></figure>\n",
                      figure(plot)),
          {},
          id,
          {plot}};
}

Picture lengths(const Ranking& r, const std::string& task, const std::string& id) {
  Chart chart = accuracy_chart(id, "Accuracy against length, " + task, "length of the input", 1, 2);
  std::vector<AtLength> longest;
  int color = 0;
  const std::vector<const Entry*> best = best_on(r, task);
  for (const Entry* e : best) {
    const std::vector<AtLength> rows = mean_curve(e->tasks.at(task));
    add_curve(chart, by_length(e->name, e->name == "none" ? 7 : color++, rows), "length ");
    chart.x_high = std::max(chart.x_high, double(rows.back().length));
    chart.shaded = e->trial->config().whole("train_length");
    if (rows.size() > longest.size()) longest = rows;
  }
  if (chart.curves.empty()) return {};
  add_baselines(chart, longest);
  return picture(chart, fmt::format("<b>{}.</b> The best on this task{}; mean over the seeds. The shaded lengths were "
                                    "trained on. Dashed: what is reached without reading the order of the symbols.",
                                    headed(task), best.back()->name == "none" ? ", and none" : ""));
}

}  // namespace poslab::compare
