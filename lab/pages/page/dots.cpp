#include "lab/pages/page/dots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/pages/page/chart.h"
#include "lab/pages/page/html.h"

namespace poslab::page {
namespace {

constexpr double row_height = 18, above = 26, below = 48;

std::string dot_axes(const DotPlot& p, bool narrow, double left, double bottom, double width) {
  std::string made;
  for (int percent = 0; percent <= 100; percent += narrow ? 50 : 20) {
    const double x = left + width * percent / 100;
    made += fmt::format(
        "<path class=\"gridline\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/><text x=\"{0:.1f}\" y=\"{3:.1f}\" "
        "text-anchor=\"middle\">{4} %</text>",
        x, above, bottom, bottom + 18, percent);
  }
  int dashes = 0;
  for (const auto& [name, value] : p.lines)
    made += fmt::format("<path class=\"line base d{}\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", dashes++, left + width * value,
                        above, bottom);
  return made + fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                            left + width / 2, bottom + 40, escape(p.x_label));
}

std::string row(const DotRow& r, double left, double width, double y) {
  const auto x = [&](double fraction) { return left + width * std::clamp(fraction, 0., 1.); };
  std::string made =
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", left - 10, y + 4, escape(r.name));
  if (std::isfinite(r.low))
    made += fmt::format("<path class=\"reach\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", x(r.low), y, x(r.high));
  for (size_t n = 0; n < r.dots.size(); ++n)
    if (std::isfinite(r.dots[n]))
      made += fmt::format("<circle class=\"dot {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>", color_class(int(n)),
                          x(r.dots[n]), y);
  if (std::isfinite(r.mean)) made += fmt::format("<path class=\"middle\" d=\"M{:.1f} {:.1f}v14\"/>", x(r.mean), y - 7);
  return made;
}

std::string svg(const DotPlot& p, bool narrow) {
  const double width = narrow ? 380 : 900;
  const std::string key = fmt::format("{}-{}", p.id, narrow ? "narrow" : "wide");
  return fmt::format(
      "<svg class=\"chart {0}\" viewBox=\"0 0 {1} {2}\" width=\"{1}\" height=\"{2}\" role=\"img\" "
      "aria-labelledby=\"{3}-t {3}-d\"><title id=\"{3}-t\">{4}</title><desc id=\"{3}-d\">{5}</desc>{6}</svg>",
      narrow ? "narrow" : "wide", width, plot_height(p), escape(key), escape(p.title), escape(p.description),
      plot(p, width));
}

}  // namespace

double plot_height(const DotPlot& p) { return above + row_height * double(p.rows.size()) + below; }

std::string plot(const DotPlot& p, double width) {
  size_t longest = 0;
  for (const DotRow& r : p.rows) longest = std::max(longest, r.name.size());
  // Enough for every common sans-serif face at 13 units.
  const double left = std::min(width / 2, 16 + 7.4 * double(longest)), right = width - 24;
  std::string made = dot_axes(p, width < 600, left, plot_height(p) - below, right - left);
  for (size_t n = 0; n < p.rows.size(); ++n)
    made += row(p.rows[n], left, right - left, above + row_height * (double(n) + .5));
  return made;
}

std::vector<Key> keys(const DotPlot& p) {
  std::vector<Key> all;
  for (size_t n = 0; n < p.kinds.size(); ++n)
    all.push_back(
        {fmt::format("<circle class=\"dot {}\" cx=\"13\" cy=\"5\" r=\"4\"/>", color_class(int(n))), p.kinds[n]});
  all.push_back({"<path class=\"middle\" d=\"M13 0v10\"/>", "mean"});
  const bool intervals = std::any_of(p.rows.begin(), p.rows.end(), [](auto& r) { return std::isfinite(r.low); });
  if (intervals) all.push_back({"<path class=\"reach\" d=\"M1 5H25\"/>", "its interval"});
  int dashes = 0;
  for (const auto& [name, value] : p.lines)
    all.push_back({fmt::format("<path class=\"line base d{}\" d=\"M1 5H25\"/>", dashes++), name});
  return all;
}

std::string figure(const DotPlot& p) {
  std::string legend;
  for (const Key& key : keys(p))
    legend +=
        fmt::format("<li><svg class=\"swatch\" viewBox=\"0 0 26 10\" aria-hidden=\"true\">{}</svg><span>{}</span></li>",
                    key.swatch, escape(key.name));
  return fmt::format("<div><ul class=\"legend\">{}</ul>{}{}</div>", legend, svg(p, false), svg(p, true));
}

}  // namespace poslab::page
