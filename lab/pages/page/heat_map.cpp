#include "lab/pages/page/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lab/pages/page/svg.h"

namespace poslab::page {

double Shades::share(double v) const {
  if (two_sided()) return (v / std::max(-low, high) + 1) / 2;
  return high > low ? (v - low) / (high - low) : 0;
}

double HeatMap::tall() const { return std::clamp(cols / (2. * rows), 1., 6.); }

std::string cells_of(const HeatMap& m, double wide) {
  const auto shade = [&](int i, int j) {
    const double v = m.cells[size_t(i) * size_t(m.cols) + size_t(j)];
    if (!std::isfinite(v)) return std::string();
    // Unlike the paper where all numbers are alike.
    return shade_class(m.shades.two_sided(), m.shades.high > m.shades.low ? m.shades.share(v) : 0.5);
  };
  std::map<std::string, std::string> runs;
  for (int i = 0; i < m.rows; ++i)
    for (int j = 0, end; j < m.cols; j = end) {
      const std::string here = shade(i, j);
      for (end = j + 1; end < m.cols && shade(i, end) == here;) ++end;
      if (!here.empty()) runs[here] += fmt::format("M{} {}h{}", j, i, end - j);
    }
  std::string shapes;
  for (const auto& [name, run] : runs) shapes += fmt::format("<path class=\"{}\" d=\"{}\"/>", name, run);
  const std::string high = m.tall() > 1 ? fmt::format(" {:.4g}", wide * m.tall()) : "";
  return fmt::format("<g class=\"cells\" transform=\"scale({:.4g}{}) translate(0 .5)\">{}</g>", wide, high, shapes);
}

}  // namespace poslab::page
