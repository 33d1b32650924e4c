// Language models against length, and by position within the window.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/ascii.h"
#include "experiment/language/options.h"
#include "lab/pages/report/language.h"

namespace poslab::report {
namespace {

using namespace page;
const Row* longest_of(const Results& all, bool repeated) {
  const Row* longest = nullptr;
  for (const Row& at : all)
    if (repeats(at) == repeated && (!longest || at.length() > longest->length())) longest = &at;
  return longest;
}

std::vector<Point> lengths_of(const Results& all, const Measure& m, bool repeated) {
  std::vector<Point> points;
  for (const Row& at : all)
    if (repeats(at) == repeated) points.push_back({double(at.length()), at[m.column]});
  std::sort(points.begin(), points.end(), [](Point a, Point b) { return a.x < b.x; });
  return points;
}

// A part is drawn at the middle of its tokens; with eval_tail the parts divide the last tokens alone.
std::vector<Point> positions_of(const Line& line, const Results& all, const Measure& m, bool repeated) {
  std::vector<Point> points;
  const Row* at = longest_of(all, repeated);
  if (!at) return points;
  const int tail = tail_of(line), counted = tail ? tail : at->length();
  for (int p = 0; p < language::parts; ++p)
    points.push_back(
        {at->length() - counted + counted * (p + .5) / language::parts, (*at)[fmt::format("{}_{}", m.column, p + 1)]});
  return points;
}

// The ranges of both charts, and the trained length.
void finish(Chart& c, const Group& g) {
  std::set<int> trained;
  c.x_low = 1e9, c.x_high = 0, c.y_low = 0, c.y_high = 0;
  for (const Line& line : g.lines) trained.insert(line.train_length());
  for (const Curve& curve : c.curves) {
    for (const std::vector<Point>& points : {curve.points, curve.behind})
      for (const Point p : points) {
        if (!std::isfinite(p.y)) continue;
        c.x_low = std::min(c.x_low, p.x), c.x_high = std::max(c.x_high, p.x);
        c.y_high = std::max(c.y_high, 1.05 * p.y);
      }
  }
  if (c.y_high == 0) c.y_high = 1;
  if (c.percent) c.y_high = std::min(1., std::ceil(10 * c.y_high) / 10);
  c.shaded = trained.size() == 1 ? *trained.begin() : 0;
}

std::string titled(std::string what, const Group& g, bool repeated) {
  what[0] = ascii::upper(what[0]);
  if (!g.has("set")) return fmt::format("{}: {}", what, g.task);
  return fmt::format("{}, {} texts: {}", what, repeated ? "repeated" : "long", g.task);
}

}  // namespace

int tail_of(const Line& line) {
  const auto at = line.first().config.find("eval_tail");
  return at == line.first().config.end() ? 0 : std::stoi(at->second);
}

std::string counted_tokens(const Group& g) {
  std::set<int> tails;
  for (const Line& line : g.lines) tails.insert(tail_of(line));
  if (tails == std::set{0}) return "all tokens";
  return tails.size() == 1 ? fmt::format("the last {} tokens", *tails.begin()) : "the tokens that its test counts";
}

bool repeats(const Row& at) { return at.has("set") && at.word("set") == "repeated"; }

Chart against_length(const Group& g, const Measure& m, bool repeated, const std::string& id) {
  Chart c{.id = id, .title = titled(m.name, g, repeated), .x_label = "tokens of the window", .y_label = m.label};
  c.percent = m.percent, c.doubling = true;
  for (const Line& line : g.lines)
    c.curves.push_back(with_seeds(line, lengths_of(line.all, m, repeated),
                                  [&](const TestedRun& run) { return lengths_of(run.all, m, repeated); }));
  finish(c, g);
  c.x_low /= 2;  // leaves room for the trained lengths
  return c;
}

Chart by_position(const Group& g, const Measure& m, bool repeated, const std::string& id) {
  Chart c{.id = id,
          .title = titled(fmt::format("{} by position", m.name), g, repeated),
          .x_label = "token of the window",
          .y_label = m.label};
  c.percent = m.percent, c.unit = "token";
  for (const Line& line : g.lines)
    c.curves.push_back(with_seeds(line, positions_of(line, line.all, m, repeated),
                                  [&](const TestedRun& run) { return positions_of(line, run.all, m, repeated); }));
  finish(c, g);
  c.x_low = 0;
  for (const Line& line : g.lines) c.x_high = std::max(c.x_high, double(line.longest()));
  return c;
}

}  // namespace poslab::report
