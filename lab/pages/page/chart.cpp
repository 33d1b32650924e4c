#include "lab/pages/page/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace poslab::page {
namespace {

using nlohmann::json;

json rounded(double v) { return std::isfinite(v) ? json(std::round(v * 1e6) / 1e6) : nullptr; }

// [[x, y], ...], null for NaN
json points_json(const std::vector<Point>& points) {
  json all = json::array();
  for (const Point p : points) all.push_back({p.x, rounded(p.y)});
  return all;
}

}  // namespace

std::string color_class(int n) {
  constexpr int colors = 8, again = 4;  // in page.css
  if (n == Curve::baseline) return "base";
  const int round = n / colors % again;
  return fmt::format("c{}{}", n % colors, round ? fmt::format(" again{}", round) : "");
}

json chart_json(const Chart& c) {
  json curves = json::array();
  for (const Curve& curve : c.curves) {
    curves.push_back(
        {{"name", curve.name}, {"color", color_class(curve.color)}, {"points", points_json(curve.points)}});
    if (curve.filled) curves.back()["filled"] = true;
    if (!curve.behind.empty()) curves.back()["behind"] = points_json(curve.behind);
    for (const Band& b : curve.band) curves.back()["band"].push_back({b.x, rounded(b.low), rounded(b.high)});
  }
  json made = {{"kind", "chart"},    {"id", c.id},         {"title", c.title},      {"x", c.x_label},
               {"y", c.y_label},     {"x_low", c.x_low},   {"x_high", c.x_high},    {"y_low", c.y_low},
               {"y_high", c.y_high}, {"shaded", c.shaded}, {"percent", c.percent},  {"log", c.log},
               {"unit", c.unit},     {"curves", curves},   {"doubling", c.doubling}};
  if (!c.caption.empty()) made["caption"] = c.caption;
  if (c.log_low > 0) made["log_low"] = c.log_low;
  return made;
}

std::string csv_cell(std::string text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
  return '"' + text + '"';
}

std::string charts_csv(const std::vector<Chart>& all) {
  std::string made = "panel,series,x,y,low,high\n";
  for (const Chart& chart : all)
    for (const Curve& c : chart.curves)
      for (const Point at : c.points) {
        if (!std::isfinite(at.y)) continue;
        const auto band = std::find_if(c.band.begin(), c.band.end(), [&](const Band& b) { return b.x == at.x; });
        made += fmt::format("{},{},{:.9g},{:.9g},", csv_cell(chart.title), csv_cell(c.name), at.x, at.y);
        made += band == c.band.end() ? ",\n" : fmt::format("{:.9g},{:.9g}\n", band->low, band->high);
      }
  return made;
}

void fit(Chart& c, double room, double floor) {
  std::vector<double> x, y;
  for (const Curve& curve : c.curves)
    for (const std::vector<Point>& points : {curve.points, curve.behind})
      for (const Point p : points)
        if (std::isfinite(p.y)) x.push_back(p.x), y.push_back(p.y);
  if (x.empty()) return;
  const auto across = std::minmax_element(x.begin(), x.end()), up = std::minmax_element(y.begin(), y.end());
  c.x_low = *across.first, c.x_high = *across.second;
  c.y_low = std::isnan(floor) ? *up.first : floor, c.y_high = *up.second;
  const double more = room * (c.y_high - c.y_low);
  if (std::isnan(floor)) c.y_low -= more;
  c.y_high += more;
  if (c.y_low == c.y_high) c.y_high += 1;
  if (c.x_low == c.x_high) c.x_low = .9 * c.x_low, c.x_high = 1.1 * c.x_high + 1;
}

std::vector<Point> outline(const std::vector<Point>& all, size_t bins) {
  if (all.size() <= 2 * bins) return all;
  std::vector<Point> kept;
  for (size_t b = 0; b < bins; ++b) {
    const auto from = all.begin() + ptrdiff_t(b * all.size() / bins),
               to = all.begin() + ptrdiff_t((b + 1) * all.size() / bins);
    auto [low, high] = std::minmax_element(from, to, [](Point p, Point q) { return p.y < q.y; });
    kept.push_back(*std::min(low, high)), kept.push_back(*std::max(low, high));
  }
  return kept;
}

std::vector<Point> smooth(const std::vector<Point>& all, size_t window) {
  const size_t count = std::min(all.size(), window / 2 * 2 + 1);
  std::vector<double> sums = {0};
  for (const Point p : all) sums.push_back(sums.back() + p.y);
  std::vector<Point> made;
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t from = std::min(i - std::min(i, count / 2), all.size() - count);
    made.push_back({all[i].x, (sums[from + count] - sums[from]) / double(count)});
  }
  return made;
}

std::vector<Point> some_of(const std::vector<Point>& all, size_t count) {
  if (all.size() <= count) return all;
  std::vector<Point> some;
  for (size_t i = 0; i < count; ++i) some.push_back(all[i * (all.size() - 1) / (count - 1)]);
  return some;
}

}  // namespace poslab::page
