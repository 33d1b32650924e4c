// A dot plot as static SVG: a row for each name with a dot for each of its fractions, 0 to 100 %, and a bar at their
// mean. As with charts the page holds it twice, wide and narrow.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "lab/pages/page/svg.h"

namespace poslab::page {

struct DotRow {
  std::string name;
  std::vector<double> dots;  // fractions, in the colors of DotPlot::kinds; a NaN is left out
  double mean, low, high;    // the bar, and the interval around it; NaNs are left out
};
struct DotPlot {
  std::string id, title, description, x_label;        // unescaped
  std::vector<std::string> kinds;                     // what the n-th dot of a row is
  std::vector<std::pair<std::string, double>> lines;  // across all rows, dashed: a name and a fraction
  std::vector<DotRow> rows;
};
std::string plot(const DotPlot&, double width);  // without its legend
double plot_height(const DotPlot&);
std::vector<Key> keys(const DotPlot&);
std::string figure(const DotPlot&);  // legend, wide and narrow SVG

}  // namespace poslab::page
