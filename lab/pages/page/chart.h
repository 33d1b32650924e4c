// A line chart as data, which lab/page/chart.mjs draws on pages and python/poslab/figures for papers.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace poslab::page {

struct Point {
  double x, y;
};
struct Band {
  double x, low, high;
};
struct Curve {
  std::string name;
  int color = 0;  // from 0; a baseline has none, is grey and dashed
  std::vector<Point> points;
  std::vector<Point> behind;  // drawn faint: the raw values that `points` smooths, or lines parted by a NaN
  bool filled = false;        // down to the axis, instead of a line
  std::vector<Band> band = {};  // a faint area behind the curve
  static constexpr int baseline = -1;
};
struct Chart {
  std::string id, title, description;  // plain text
  std::string x_label, y_label;
  double x_low, x_high, y_low, y_high;
  bool percent = false, log = false;  // of the y axis
  double shaded = 0;                  // x from x_low to here lies in the training range; 0: nothing is shaded
  std::vector<Curve> curves;
  std::string unit = "length";  // the name of x in the read-out
  bool doubling = false;        // equal steps along the x axis double its value; ticks are at points of the curves
  std::string caption = {};     // prose (prose.h), below it
  double log_low = 0;           // where a logarithmic y axis begins, between which and this one the reader chooses
};

// The distance of ticks on every axis: 1, 2 or 5 times a power of ten, at least `least`, as lab/page/scale.mjs has it.
double tick_step(double least);

// The class of svg.css that draws something in the n-th color: eight colors, then the same eight with lines dashed and
// marks square, ...
std::string color_class(int n);
// Where lines of a chart lie on one another, each leaves gaps for those under it: the class of svg.css that does so for
// the n-th curve. "" if it hides none that was drawn before it.
std::string gaps_class(const Chart&, size_t n);
std::string svg(const Chart&);
// The charts below one another, each under its title: a file of its own (svg.h), or what such a file draws.
std::string svg_file(const std::vector<Chart>&);
std::string svg_shapes(const std::vector<Chart>&);
std::pair<double, double> svg_size(const std::vector<Chart>&);   // width and height, in pixels
// A part of a page's document, and a figure for python/poslab/figures (lab/page/README.md).
nlohmann::json chart_json(const Chart&);
nlohmann::json points_json(const std::vector<Point>&);  // [[x, y], ...], null for NaN

// At most two points for each of `bins` stretches, the lowest and the highest: the outline of a dense noisy curve.
std::vector<Point> outline(const std::vector<Point>&, size_t bins);
// Centered moving mean over `window` neighbours, read at up to `count` places.
std::vector<Point> smooth(const std::vector<Point>&, size_t window, size_t count);

}  // namespace poslab::page
