#include "lab/pages/page/chart.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lab/pages/page/prose.h"
#include "lab/pages/page/svg.h"

namespace poslab::page {
namespace {

// How values become places.
struct Frame {
  double left, right, top, bottom;
  int x_ticks;  // about so many
  const Chart& chart;
  double x(double v) const {
    const auto scale = [&](double u) { return chart.doubling ? std::log2(u) : u; };
    return left + (scale(v) - scale(chart.x_low)) / (scale(chart.x_high) - scale(chart.x_low)) * (right - left);
  }
  double y(double v) const {
    const auto scale = [&](double u) { return chart.log ? std::log10(u) : u; };
    const double low = scale(chart.y_low), high = scale(chart.y_high);
    return bottom - (std::clamp(scale(v), low, high) - low) / (high - low) * (bottom - top);
  }
};

// About `wanted` ticks; of whole things whole ones.
std::vector<double> even_ticks(double low, double high, int wanted, bool whole) {
  const double least = (high - low) / wanted, step = tick_step(whole ? std::max(1., least) : least);
  std::vector<double> ticks;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i)
    ticks.push_back(i * step + 0.);  // never -0
  return ticks;
}

std::vector<double> log_ticks(double low, double high) {
  const double decades = std::log10(high / low);
  std::vector<double> ticks;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10)
    for (const double digit : {1., 2., 5.})
      if ((digit == 1 || decades < 2.5) && power * digit >= low * .999 && power * digit <= high * 1.001)
        ticks.push_back(power * digit);
  return ticks;
}

// Its x count something: lengths, steps, pairs of channels.
bool whole(const Chart& c) {
  return std::all_of(c.curves.begin(), c.curves.end(), [](const Curve& curve) {
    return std::all_of(curve.points.begin(), curve.points.end(), [](Point p) { return p.x == std::round(p.x); });
  });
}

// At the x of points, every one or every second, ..., so that no more than `wanted` are there.
std::vector<double> ticks_at_points(const Chart& c, size_t wanted) {
  std::set<double> all;
  for (const Curve& curve : c.curves)
    for (const Point p : curve.points) all.insert(p.x);
  const std::vector<double> sorted(all.begin(), all.end());
  const size_t each = (sorted.size() + wanted - 1) / wanted;
  std::vector<double> ticks;
  for (size_t n = 0; n < sorted.size(); n += each) ticks.push_back(sorted[n]);
  return ticks;
}

std::string path(const Frame& f, const std::vector<Point>& points, const std::string& attributes) {
  std::string d;
  bool drawing = false;  // a NaN breaks the line
  for (const Point p : points) {
    const bool seen = std::isfinite(p.y) && (!f.chart.log || p.y > 0);
    if (seen) d += fmt::format("{}{:.1f} {:.1f}", drawing ? "L" : "M", f.x(p.x), f.y(p.y));
    drawing = seen;
  }
  return d.empty() ? "" : fmt::format("<path {} d=\"{}\"/>", attributes, d);
}

std::string area(const Frame& f, const std::vector<Band>& band, const std::string& attributes) {
  std::string d;
  for (const Band& b : band) d += fmt::format("{}{:.1f} {:.1f}", d.empty() ? "M" : "L", f.x(b.x), f.y(b.high));
  for (auto b = band.rbegin(); b != band.rend(); ++b) d += fmt::format("L{:.1f} {:.1f}", f.x(b->x), f.y(b->low));
  return d.empty() ? "" : fmt::format("<path {} d=\"{}Z\"/>", attributes, d);
}

// Classes of svg.css for each curve; each baseline has dashes of its own.
std::vector<std::string> styles(const Chart& c) {
  std::vector<std::string> all;
  int dashes = 0;
  for (const Curve& curve : c.curves)
    all.push_back(curve.filled ? "area " + color_class(curve.color)
                               : fmt::format("line {}{}", color_class(curve.color),
                                             curve.color < 0 ? fmt::format(" d{}", dashes++) : ""));
  return all;
}

std::vector<double> x_ticks(const Chart& c, int wanted) {
  return c.doubling ? ticks_at_points(c, size_t(wanted)) : even_ticks(c.x_low, c.x_high, wanted, whole(c));
}

std::string axes(const Frame& f) {
  const Chart& c = f.chart;
  std::string made;
  for (const double v : c.log ? log_ticks(c.y_low, c.y_high) : even_ticks(c.y_low, c.y_high, 6, false)) {
    const std::string text = c.percent ? fmt::format("{:.0f} %", 100 * v) : number(v);
    made += fmt::format(
        "<path class=\"gridline\" d=\"M{:.1f} {:.1f}H{:.1f}\"/><text x=\"{:.1f}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{}</text>",
        f.left, f.y(v), f.right, f.left - 8, f.y(v) + 4, text);
  }
  for (const double v : x_ticks(c, f.x_ticks))
    made += fmt::format(
        "<path class=\"tick\" d=\"M{0:.1f} {1:.1f}v5\"/><text x=\"{0:.1f}\" y=\"{2:.1f}\" "
        "text-anchor=\"middle\">{3}</text>",
        f.x(v), f.bottom, f.bottom + 19, number(v));
  made += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", f.left, f.bottom, f.right);
  made += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                      (f.left + f.right) / 2, f.bottom + 40, escape(c.x_label));
  return made + fmt::format("<text class=\"label\" x=\"{:g}\" y=\"{:g}\">{}</text>", f.left - 48, f.top - 18,
                            escape(c.y_label));
}

// Names beside the ends of their curves, moved apart where they would overlap.
std::string direct_labels(const Frame& f) {
  struct Label {
    double y;
    const Curve* curve;
  };
  std::vector<Label> labels;
  for (const Curve& curve : f.chart.curves) {
    const auto end =
        std::find_if(curve.points.rbegin(), curve.points.rend(), [](Point p) { return std::isfinite(p.y); });
    if (end != curve.points.rend()) labels.push_back({f.y(end->y), &curve});
  }
  std::sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.y < b.y; });
  const double gap = 17;
  double lowest = f.top;
  for (Label& l : labels) l.y = std::max(l.y, lowest), lowest = l.y + gap;
  double highest = f.bottom - 2;
  for (auto l = labels.rbegin(); l != labels.rend(); ++l) l->y = std::min(l->y, highest), highest = l->y - gap;
  std::string made;
  for (const Label& l : labels)
    made += fmt::format("<text class=\"name {}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                        color_class(l.curve->color), f.right + 10, l.y + 4, escape(l.curve->name));
  return made;
}

// Whether two lines cannot be told apart in a picture of 400 pixels, where a line is two high.
bool on_one_another(const Chart& c, const Curve& a, const Curve& b) {
  const Frame f{0, 400, 0, 400, 0, c};
  if (a.points.size() != b.points.size() || a.filled || b.filled) return false;
  for (size_t n = 0; n < a.points.size(); ++n) {
    const Point p = a.points[n], q = b.points[n];
    if (p.x != q.x || std::isfinite(p.y) != std::isfinite(q.y)) return false;
    if (std::isfinite(p.y) && std::abs(f.y(p.y) - f.y(q.y)) > 2) return false;
  }
  return true;
}

}  // namespace

std::string gaps_class(const Chart& c, size_t n) {
  constexpr int most = 3;  // in svg.css
  if (c.curves[n].color == Curve::baseline) return "";
  const auto under = std::count_if(c.curves.begin(), c.curves.begin() + ptrdiff_t(n), [&](const Curve& other) {
    return other.color != Curve::baseline && on_one_another(c, other, c.curves[n]);
  });
  return under ? fmt::format(" gaps{}", std::min<int>(int(under), most)) : "";
}

double tick_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least))), times = least / power - 1e-9;
  return power * (times > 5 ? 10 : times > 2 ? 5 : times > 1 ? 2 : 1);
}

std::string color_class(int n) {
  constexpr int colors = 8, again = 4;  // in page.css
  if (n == Curve::baseline) return "base";
  const int round = n / colors % again;
  return fmt::format("c{}{}", n % colors, round ? fmt::format(" again{}", round) : "");
}

namespace {

// Axes, curves and labels of the axes; not the names of the curves.
std::string plot(const Frame& f) {
  const Chart& c = f.chart;
  std::string made;
  if (c.shaded != 0 && c.shaded > c.x_low) {
    const double end = f.x(std::min(c.shaded, c.x_high));
    made += fmt::format("<rect class=\"trained\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                        f.left, f.top, end - f.left, f.bottom - f.top);
    made += fmt::format("<text class=\"zone\" x=\"{:.1f}\" y=\"{:.1f}\">trained</text>", f.left + 8, f.bottom - 10);
    constexpr double word = 64;  // "trained" and a space; where the zone is narrower, the next word makes room
    if (c.x_high > c.shaded)
      made += fmt::format("<text class=\"zone\" x=\"{:.1f}\" y=\"{:.1f}\">unseen</text>",
                          std::max(end, f.left + word) + 8, f.bottom - 10);
  }
  made += axes(f);
  const auto look = [](const char* what, const Curve& curve) {
    return fmt::format("class=\"{} {}\"", what, color_class(curve.color));
  };
  for (const Curve& curve : c.curves) made += area(f, curve.band, look("band", curve));
  for (const Curve& curve : c.curves) made += path(f, curve.behind, look("raw", curve));
  const std::vector<std::string> looks = styles(c);
  for (size_t n = 0; n < looks.size(); ++n)
    made += path(f, c.curves[n].points, fmt::format("class=\"{}{}\"", looks[n], gaps_class(c, n)));
  return made;
}

}  // namespace

std::string svg(const Chart& c) {
  size_t longest = 0;
  for (const Curve& curve : c.curves) longest = std::max(longest, curve.name.size());
  const double width = 900, height = 400;
  // Enough for every common sans-serif face, bold, at 13 units.
  const Frame f{48, width - std::min(340., 16 + 8.2 * double(longest)), 30, height - 48, 8, c};
  return fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "aria-labelledby=\"{2}-t {2}-d\"><title id=\"{2}-t\">{3}</title><desc id=\"{2}-d\">{4}</desc>{5}{6}</svg>",
      width, height, escape(c.id), escape(c.title), escape(c.description), plot(f), direct_labels(f));
}

namespace {
constexpr double file_width = 900, each = 450, edge = 16;   // of a chart in a file, and around all of them
}

std::pair<double, double> svg_size(const std::vector<Chart>& charts) {
  return {file_width + 2 * edge, each * double(charts.size()) + edge};
}

std::string svg_shapes(const std::vector<Chart>& charts) {
  std::string made;
  for (size_t n = 0; n < charts.size(); ++n)
    made += fmt::format(
        "<text class=\"heading\" x=\"0\" y=\"{}\">{}</text>"
        "<g transform=\"translate(0 {})\">{}</g>\n",
        each * double(n) + 16, escape(charts[n].title), each * double(n) + 36, svg(charts[n]));
  return made;
}

std::string svg_file(const std::vector<Chart>& charts) {
  const auto [width, height] = svg_size(charts);
  std::vector<std::string> titles, descriptions;
  for (const Chart& c : charts) titles.push_back(c.title), descriptions.push_back(c.description);
  return svg_document({-edge, -edge, width, height}, fmt::format("{}", fmt::join(titles, "; ")),
                      fmt::format("{}", fmt::join(descriptions, " ")), svg_shapes(charts));
}

namespace {
nlohmann::json rounded(double v) { return std::isfinite(v) ? nlohmann::json(std::round(v * 1e6) / 1e6) : nullptr; }
}  // namespace

nlohmann::json points_json(const std::vector<Point>& points) {
  nlohmann::json all = nlohmann::json::array();
  for (const Point p : points) all.push_back({p.x, rounded(p.y)});
  return all;
}

nlohmann::json chart_json(const Chart& c) {
  nlohmann::json curves = nlohmann::json::array();
  for (const Curve& curve : c.curves) {
    curves.push_back(
        {{"name", curve.name}, {"color", color_class(curve.color)}, {"points", points_json(curve.points)}});
    if (curve.filled) curves.back()["filled"] = true;
    if (!curve.behind.empty()) curves.back()["behind"] = points_json(curve.behind);
    for (const Band& b : curve.band) curves.back()["band"].push_back({b.x, rounded(b.low), rounded(b.high)});
  }
  nlohmann::json made = {
      {"kind", "chart"},    {"id", c.id},         {"title", c.title},       {"x", c.x_label},
      {"y", c.y_label},     {"x_low", c.x_low},   {"x_high", c.x_high},     {"y_low", c.y_low},
      {"y_high", c.y_high}, {"shaded", c.shaded}, {"percent", c.percent},   {"log", c.log},
      {"unit", c.unit},     {"curves", curves},   {"doubling", c.doubling}, {"description", c.description}};
  if (!c.caption.empty()) made["caption"] = c.caption;
  if (c.log_low > 0) made["log_low"] = c.log_low;
  return made;
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

std::vector<Point> smooth(const std::vector<Point>& all, size_t window, size_t count) {
  std::vector<Point> made;
  const size_t places = std::min(count, all.size());
  for (size_t i = 0; i < places; ++i) {
    const size_t at = places > 1 ? i * (all.size() - 1) / (places - 1) : 0;
    const size_t reach = std::min({window / 2, at, all.size() - 1 - at});  // symmetric, so that the ends are not tilted
    double sum = 0;
    for (size_t j = at - reach; j <= at + reach; ++j) sum += all[j].y;
    made.push_back({all[at].x, sum / double(2 * reach + 1)});
  }
  return made;
}

}  // namespace poslab::page
