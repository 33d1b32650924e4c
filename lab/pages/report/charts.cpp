// Accuracy against length, and the loss of training: a chart for each task, a curve for each line.
#include "lab/pages/report/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace poslab::report {
namespace {

using namespace page;
// The training data of the lines; several pairs: they share no range.
std::set<std::pair<int, int>> trained_by(const Group& g) {
  std::set<std::pair<int, int>> all;
  for (const Line& line : g.lines) all.emplace(line.first().shortest_trained, line.train_length());
  return all;
}

// The shaded lengths, and for runs with an origin trained on others a note that those do not count.
std::string about_training(const Group& g) {
  const std::set<std::pair<int, int>> trained = trained_by(g);
  const auto [from, to] = *trained.begin();
  std::string text = trained.size() > 1 ? "The runs were trained on different ranges of lengths, so none is shaded. "
                     : from > 1         ? fmt::format("Length {} alone was trained on, so none is shaded. ", to)
                                        : fmt::format("The shaded lengths, 1 to {}, were trained on. ", to);
  std::set<std::string> origins;
  for (const Line& line : g.lines)
    if (const auto said = line.first().config.find("from"); said != line.first().config.end())
      origins.insert(said->second);
  origins.erase("");
  for (const std::string& run : origins)
    text += fmt::format("The lengths that {} was trained on before are not counted. ", literal(run));
  return text;
}

// The row of each length that some line was tested at: of the line that reaches furthest, if it has that length.
Results all_lengths(const Group& g) {
  std::vector<const Line*> lines;
  for (const Line& line : g.lines) lines.push_back(&line);
  std::stable_sort(lines.begin(), lines.end(), [](auto* a, auto* b) { return a->longest() > b->longest(); });
  std::map<int, Row> rows;
  for (const Line* line : lines)
    for (const Row& row : line->tested) rows.emplace(row.length(), row);
  Results all;
  for (auto& [length, row] : rows) all.push_back(std::move(row));
  return all;
}

// The three baselines as curves; baselines that agree to half a point at every length share one.
std::vector<Curve> baseline_curves(const Results& tested) {
  const std::pair<const char*, const char*> kinds[] = {
      {"chance", "chance"}, {"majority", "majority"}, {"content only", "content_only"}};
  std::vector<Curve> curves;
  for (const auto& [name, column] : kinds) {
    std::vector<Point> points;
    for (const Row& row : tested) points.push_back({double(row.length()), row[column]});
    const auto same = std::find_if(curves.begin(), curves.end(), [&](const Curve& c) {
      return std::equal(c.points.begin(), c.points.end(), points.begin(),
                        [](Point a, Point b) { return std::abs(a.y - b.y) < .005; });
    });
    if (same == curves.end())
      curves.push_back({name, Curve::baseline, points, {}});
    else
      same->name += std::string(", ") + name;
  }
  return curves;
}

// The curves of a line's seeds: each smoothed, and their mean at the steps that all of them log.
Curve training_curve(const Line& line, double TrainStep::*what) {
  constexpr size_t places = 240;
  Curve curve{line.name, line.color, {}, {}};
  std::vector<std::vector<Point>> seeds;
  for (const TestedRun* run : line.runs) {
    std::vector<Point> raw;
    for (const TrainStep& s : run->training)
      if (std::isfinite(s.*what)) raw.push_back({s.step, s.*what});
    if (raw.empty()) continue;
    seeds.push_back(smooth(raw, raw.size() / 25));
    if (line.runs.size() == 1)
      return curve.points = some_of(seeds[0], places), curve.behind = outline(raw, places), curve;
  }
  std::map<double, std::vector<double>> logged;
  for (const std::vector<Point>& seed : seeds) {
    for (const Point p : seed) logged[p.x].push_back(p.y);
    const std::vector<Point> some = some_of(seed, places);
    curve.behind.insert(curve.behind.end(), some.begin(), some.end());
    curve.behind.push_back({0, std::nan("")});
  }
  for (const auto& [step, values] : logged)
    if (values.size() == seeds.size()) curve.points.push_back({step, mean(values)});
  curve.points = some_of(curve.points, places);
  return curve;
}

}  // namespace

Curve with_seeds(const Line& line, std::vector<Point> mean,
                 const std::function<std::vector<Point>(const TestedRun&)>& of) {
  Curve curve{line.name, line.color, std::move(mean), {}};
  if (line.runs.size() == 1) return curve;
  for (const Point p : curve.points) curve.band.push_back({p.x, p.y, p.y});
  for (const TestedRun* run : line.runs) {
    auto band = curve.band.begin();
    for (const Point p : of(*run)) {
      if (band == curve.band.end() || p.x != band->x) continue;  // some runs were not tested at this length
      curve.behind.push_back(p);
      band->low = std::min(band->low, p.y), band->high = std::max(band->high, p.y);
      ++band;
    }
    curve.behind.push_back({0, std::nan("")});  // separates the seeds
  }
  return curve;
}

Chart accuracy_chart(const Group& g, const std::string& id) {
  Chart c{.id = id,
          .title = "Accuracy against length: " + words(g.task),
          .x_label = "length of the input",
          .y_label = "accuracy"};
  c.x_low = c.x_high = c.y_low = c.y_high = 1, c.percent = true;
  double lowest = 1, x_low = 1e9;
  for (const Line& line : g.lines) {
    const auto points = [](const Results& tested) {
      std::vector<Point> all;
      for (const Row& row : tested) all.push_back({double(row.length()), row["accuracy"]});
      return all;
    };
    const Curve curve = with_seeds(line, points(line.tested), [&](const TestedRun& run) { return points(run.tested); });
    for (const std::vector<Point>& all : {curve.points, curve.behind})
      for (const Point p : all)
        if (std::isfinite(p.y)) lowest = std::min(lowest, p.y);
    c.x_high = std::max(c.x_high, curve.points.back().x), x_low = std::min(x_low, curve.points.front().x);
    c.curves.push_back(curve);
  }
  for (const Curve& base : baseline_curves(all_lengths(g))) {
    for (const Point p : base.points) lowest = std::min(lowest, p.y);
    c.curves.push_back(base);
  }
  c.x_low = std::min(x_low, c.x_high - 1);
  c.y_low = std::max(0., std::floor(10 * lowest - .5) / 10);
  const std::set<std::pair<int, int>> trained = trained_by(g);
  c.shaded = trained.size() == 1 && trained.begin()->first == 1 ? trained.begin()->second : 0;
  return c;
}

std::string accuracy_caption(const Group& g) {
  int fewest = int(g.lines[0].tested[0]["samples"]);
  for (const Line& line : g.lines)
    for (const Row& row : line.tested) fewest = std::min(fewest, int(row["samples"]));
  return fmt::format(
      "**{}.** Share of answer slots that are right, at every tested length. {}{}Each point of a run is the mean "
      "over {}{} strings, so its standard error is at most {:.1f} points. Dashed and grey: the shares that uniform "
      "guessing, the most frequent symbol of each slot (majority), and the same answer in every slot, from the number "
      "of each symbol alone (content only), reach.",
      heading(g), about_training(g),
      g.has_seeds() ? "Strong: the mean over seeds. Faint: single seeds; the band reaches from the lowest to the "
                      "highest. "
                    : "",
      g.lines.size() > 1 ? "at least " : "", fewest, 50 / std::sqrt(fewest));
}

Chart loss_chart(const Group& g, const std::string& id) {
  Chart c{.id = id, .title = "Training loss, " + g.task, .x_label = "training step", .y_label = "loss (nats)"};
  c.x_low = 0, c.x_high = 1, c.y_low = 0, c.y_high = 0, c.unit = "step";
  double lowest = 1e30;
  for (const Line& line : g.lines) {
    const Curve curve = training_curve(line, &TrainStep::loss);
    if (curve.behind.empty()) continue;
    for (const Point p : curve.behind) {
      if (!std::isfinite(p.y)) continue;
      if (p.y > 0) lowest = std::min(lowest, p.y);
      c.y_high = std::max(c.y_high, p.y), c.x_high = std::max(c.x_high, p.x);
    }
    c.curves.push_back(curve);
  }
  if (c.y_high == 0) c.y_high = 1;
  // At most five decades, so that a single lucky batch does not flatten the rest.
  c.log_low = std::clamp(lowest, c.y_high * 1e-5, c.y_high / 2);
  return c;
}

Chart training_accuracy_chart(const Group& g, const std::string& id) {
  Chart c{.id = id, .title = "Training accuracy, " + g.task, .x_label = "training step", .y_label = "accuracy"};
  c.x_low = 0, c.x_high = 1, c.y_low = 0, c.y_high = 1, c.percent = true, c.unit = "step";
  for (const Line& line : g.lines) {
    const Curve curve = training_curve(line, &TrainStep::accuracy);
    if (curve.behind.empty()) continue;
    for (const Point p : curve.behind) c.x_high = std::max(c.x_high, p.x);
    c.curves.push_back(curve);
  }
  return c;
}

std::string smoothing_caption(const Group& g, const char* single) {
  constexpr const char* window = "the mean over the nearest 4\u202f% of";
  return g.has_seeds() ? fmt::format("Faint: each seed, as {} its run. Strong: the mean over seeds, at the steps that "
                                     "all of them log.", window)
                       : fmt::format("Faint: single {}. Strong: {} the run.", single, window);
}

std::string loss_caption(const Group& g) {
  std::set<std::string> counted;
  for (const Line& line : g.lines) {
    const auto at = line.first().config.find("loss_on");
    if (at != line.first().config.end()) counted.insert(at->second);
  }
  return fmt::format("**{}.** Mean cross-entropy of a training batch. {}{}", heading(g),
                     smoothing_caption(g, "batches, whose lengths vary"),
                     counted.size() > 1 ? " Lines with another loss_on are means over other tokens, and do not compare."
                                        : "");
}

}  // namespace poslab::report
