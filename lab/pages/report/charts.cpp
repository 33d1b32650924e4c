// Charts of tests and of training: one for each task or text, with a curve for each line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/ascii.h"
#include "experiment/language/options.h"
#include "lab/pages/report/sections.h"

namespace poslab::report {
namespace {

using namespace page;

// The different values of an option, without "".
std::set<std::string> values_in(const Group& g, const char* option) {
  std::set<std::string> all;
  for (const Line& line : g.lines) all.insert(line.first().option(option));
  all.erase("");
  return all;
}

// The ranges of trained lengths, (from, to) each; more than one if lines differ.
std::set<std::pair<int, int>> trained_by(const Group& g) {
  std::set<std::pair<int, int>> all;
  for (const Line& line : g.lines) all.emplace(line.first().shortest_trained, line.train_length());
  return all;
}

// The end of the trained range; 0: nothing is shaded.
int shaded(const Group& g) {
  const auto trained = trained_by(g);
  return trained.size() == 1 && trained.begin()->first == 1 ? trained.begin()->second : 0;
}

// The shaded lengths, and for runs whose origin was trained on other lengths a note that these do not count.
std::string about_training(const Group& g) {
  std::string text = shaded(g) ? fmt::format("The shaded lengths, 1 to {}, were trained on.", shaded(g))
                     : trained_by(g).size() > 1
                         ? "The runs were trained on different ranges of lengths, so none is shaded."
                         : fmt::format("Only length {} was trained on, so none is shaded.", g.lines[0].train_length());
  for (const std::string& run : values_in(g, "from"))
    text += fmt::format(" The lengths that {} was trained on before are not counted.", literal(run));
  return text;
}

std::vector<Point> lengths_of(const Results& all, const Measure& m, bool repeated) {
  std::vector<Point> points;
  for (const Row& at : all)
    if (repeats(at) == repeated) points.push_back({double(at.length()), at[m.column]});
  std::sort(points.begin(), points.end(), [](Point a, Point b) { return a.x < b.x; });
  return points;
}

// The results of each eighth of the longest windows, at the eighth's middle; `tail`: only of their last tokens.
std::vector<Point> places_of(const Results& all, const Measure& m, bool repeated, int tail) {
  std::vector<Point> points;
  const Row* longest = nullptr;
  for (const Row& at : all)
    if (repeats(at) == repeated && (!longest || at.length() > longest->length())) longest = &at;
  if (!longest) return points;
  const int counted = tail ? tail : longest->length();
  for (int p = 0; p < language::parts; ++p)
    points.push_back({longest->length() - counted + counted * (p + .5) / language::parts,
                      (*longest)[fmt::format("{}_{}", m.column, p + 1)]});
  return points;
}

// The mean of a line, with faint lines for its runs behind it, and the band from the lowest to the highest.
template <class Of>
Curve with_seeds(const Line& line, const Of& points_of) {
  Curve curve{line.name, line.color, points_of(line.all)};
  if (line.runs.size() == 1) return curve;
  for (const Point p : curve.points) curve.band.push_back({p.x, p.y, p.y});
  for (const TestedRun* run : line.runs) {
    auto band = curve.band.begin();
    for (const Point p : points_of(run->all)) {
      if (band == curve.band.end() || p.x != band->x) continue;  // some runs were not tested at this length
      curve.behind.push_back(p);
      band->low = std::min(band->low, p.y), band->high = std::max(band->high, p.y);
      ++band;
    }
    curve.behind.push_back({0, std::nan("")});  // separates the seeds
  }
  return curve;
}

// The three baselines as curves, for the lines that reach furthest. Baselines that agree to half a point at every
// length share a curve.
std::vector<Curve> baseline_curves(const Group& g) {
  std::vector<const Line*> lines;
  for (const Line& line : g.lines) lines.push_back(&line);
  std::stable_sort(lines.begin(), lines.end(), [](auto* a, auto* b) { return a->longest() > b->longest(); });
  std::map<int, Row> rows;  // by length
  for (const Line* line : lines)
    for (const Row& row : line->tested) rows.emplace(row.length(), row);
  std::vector<Curve> curves;
  for (const auto& [name, column] :
       {std::pair{"chance", "chance"}, {"majority", "majority"}, {"content only", "content_only"}}) {
    std::vector<Point> points;
    for (const auto& [length, row] : rows) points.push_back({double(length), row[column]});
    const auto same = std::find_if(curves.begin(), curves.end(), [&](const Curve& c) {
      return std::equal(c.points.begin(), c.points.end(), points.begin(),
                        [](Point a, Point b) { return std::abs(a.y - b.y) < .005; });
    });
    if (same == curves.end())
      curves.push_back({name, Curve::baseline, points});
    else
      same->name += std::string(", ") + name;
  }
  return curves;
}

// The curves of a line's seeds: each smoothed, and their mean at the steps that all of them log.
Curve training_curve(const Line& line, double TrainStep::*what) {
  constexpr size_t places = 240;
  Curve curve{line.name, line.color, {}};
  size_t seeds = 0;
  std::map<double, std::vector<double>> logged;
  for (const TestedRun* run : line.runs) {
    std::vector<Point> raw;
    for (const TrainStep& s : run->training)
      if (std::isfinite(s.*what)) raw.push_back({s.step, s.*what});
    if (raw.empty()) continue;
    ++seeds;
    const std::vector<Point> smoothed = smooth(raw, raw.size() / 25), some = some_of(smoothed, places);
    if (line.runs.size() == 1) return curve.points = some, curve.behind = outline(raw, places), curve;
    for (const Point p : smoothed) logged[p.x].push_back(p.y);
    curve.behind.insert(curve.behind.end(), some.begin(), some.end());
    curve.behind.push_back({0, std::nan("")});
  }
  for (const auto& [step, values] : logged)
    if (values.size() == seeds) curve.points.push_back({step, mean(values)});
  curve.points = some_of(curve.points, places);
  return curve;
}

Chart training_chart(const Group& g, const std::string& id, const char* what, const char* unit,
                     double TrainStep::*figure) {
  Chart c{.id = id,
          .title = fmt::format("Training {}, {}", what, g.task),
          .x_label = "training step",
          .y_label = fmt::format("{}{}", what, unit)};
  c.unit = "step";
  for (const Line& line : g.lines)
    if (Curve curve = training_curve(line, figure); !curve.behind.empty()) c.curves.push_back(std::move(curve));
  fit(c, 0, 0);
  c.x_low = 0;
  return c;
}

std::string titled(std::string what, const Group& g, bool repeated) {
  what[0] = ascii::upper(what[0]);
  if (!g.has("set")) return fmt::format("{}: {}", what, g.task);
  return fmt::format("{}, {} texts: {}", what, repeated ? "repeated" : "long", g.task);
}

// Finishes a chart of windows of tokens.
void finish(Chart& c, const Group& g, const Measure& m) {
  c.y_label = m.label, c.percent = m.percent;
  fit(c, .05, 0);
  if (c.percent) c.y_high = std::min(1., std::ceil(10 * c.y_high) / 10);
  c.shaded = shaded(g);
}

}  // namespace

bool repeats(const Row& at) { return at.has("set") && at.word("set") == "repeated"; }

std::string counted_tokens(const Group& g) {
  std::set<int> tails;
  for (const Line& line : g.lines) tails.insert(line.tail());
  if (tails == std::set{0}) return "all tokens";
  return tails.size() == 1 ? fmt::format("the last {} tokens", *tails.begin()) : "the tokens that its test counts";
}

Chart against_length(const Group& g, const Measure& m, bool repeated, const std::string& id) {
  Chart c{.id = id, .title = titled(m.name, g, repeated), .x_label = "tokens of the window"};
  c.doubling = true;
  for (const Line& line : g.lines)
    c.curves.push_back(with_seeds(line, [&](const Results& all) { return lengths_of(all, m, repeated); }));
  finish(c, g, m);
  c.x_low /= 2;  // leaves room for the trained lengths
  return c;
}

Chart by_position(const Group& g, const Measure& m, bool repeated, const std::string& id) {
  Chart c{
      .id = id, .title = titled(fmt::format("{} by position", m.name), g, repeated), .x_label = "token of the window"};
  c.unit = "token";
  for (const Line& line : g.lines)
    c.curves.push_back(with_seeds(line, [&](const Results& all) { return places_of(all, m, repeated, line.tail()); }));
  finish(c, g, m);
  c.x_low = 0;
  for (const Line& line : g.lines) c.x_high = std::max(c.x_high, double(line.longest()));
  return c;
}

Chart accuracy_chart(const Group& g, const std::string& id) {
  if (!g.has("chance")) return against_length(g, measures[0], false, id);
  Chart c{.id = id,
          .title = "Accuracy against length: " + words(g.task),
          .x_label = "length of the input",
          .y_label = "accuracy"};
  c.percent = true;
  for (const Line& line : g.lines)
    c.curves.push_back(with_seeds(line, [](const Results& all) { return lengths_of(all, measures[0], false); }));
  for (Curve& base : baseline_curves(g)) c.curves.push_back(std::move(base));
  fit(c);
  c.y_low = std::max(0., std::floor(10 * c.y_low - .5) / 10), c.y_high = 1;
  c.shaded = shaded(g);
  return c;
}

std::string accuracy_caption(const Group& g) {
  int fewest = int(g.lines[0].tested[0]["samples"]);
  for (const Line& line : g.lines)
    for (const Row& row : line.tested) fewest = std::min(fewest, int(row["samples"]));
  return fmt::format(
      "**{}.** Share of answer slots that are right, at every tested length. {}{} Each point of a run is the mean "
      "over {}{} strings, so its standard error is at most {:.1f} points. Dashed and grey: the shares reached by "
      "uniform guessing, by the most frequent symbol of each slot (majority), and by one symbol for all slots, based "
      "only on how often each symbol occurs (content only).",
      heading(g), about_training(g), about_seeds(g), g.lines.size() > 1 ? "at least " : "", fewest,
      50 / std::sqrt(fewest));
}

Chart loss_chart(const Group& g, const std::string& id) {
  Chart c = training_chart(g, id, "loss", " (nats)", &TrainStep::loss);
  double lowest = 1e30;
  for (const Curve& curve : c.curves)
    for (const Point p : curve.behind)
      if (p.y > 0) lowest = std::min(lowest, p.y);
  // At most five decades, so that a single lucky batch does not flatten the rest.
  c.log_low = std::clamp(lowest, c.y_high * 1e-5, c.y_high / 2);
  return c;
}

Chart training_accuracy_chart(const Group& g, const std::string& id) {
  Chart c = training_chart(g, id, "accuracy", "", &TrainStep::accuracy);
  c.y_high = 1, c.percent = true;
  return c;
}

std::string about_seeds(const Group& g) {
  if (!g.has_seeds()) return "";
  return " Strong: the mean over seeds. Faint: single seeds; the band reaches from the lowest to the highest.";
}

std::string smoothing_caption(const Group& g, const char* single) {
  constexpr const char* window = "the mean over the nearest 4\u202f% of";
  return g.has_seeds() ? fmt::format(
                             "Faint: each seed, as {} its run. Strong: the mean over seeds, at the steps that "
                             "all of them log.",
                             window)
                       : fmt::format("Faint: single {}. Strong: {} the run.", single, window);
}

std::string loss_caption(const Group& g) {
  return fmt::format("**{}.** Mean cross-entropy of a training batch. {}{}", heading(g),
                     smoothing_caption(g, "batches, whose lengths vary"),
                     values_in(g, "loss_on").size() > 1
                         ? " Lines with another loss_on are means over other tokens, and cannot be compared."
                         : "");
}

}  // namespace poslab::report
