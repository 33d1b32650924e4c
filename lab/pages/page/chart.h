// A line chart as data, which lab/page/chart.mjs draws on pages and python/poslab/figures for papers.
#pragma once
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
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
  int color = 0;  // index of the curve's color; a baseline has none, and is grey and dashed
  std::vector<Point> points;
  std::vector<Point> behind;    // drawn faint: the raw values that `points` smooths, or lines separated by a NaN
  bool filled = false;          // filled down to the axis, instead of a line
  std::vector<Band> band = {};  // a faint area behind the curve
  static constexpr int baseline = -1;
};
struct Chart {
  std::string id, title;  // plain text
  std::string x_label, y_label;
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
  bool percent = false, log = false;  // of the y axis
  double shaded = 0;                  // x from x_low to this value is the training range; 0: nothing is shaded
  std::vector<Curve> curves;
  std::string unit = "length";  // the name of x in the read-out
  bool doubling = false;        // equal steps along the x axis double its value; ticks are at points of the curves
  std::string caption = {};     // prose (prose.h) below the chart
  double log_low = 0;           // the beginning of a logarithmic y axis that the reader can choose instead
};

// The class of page.css that draws something in the n-th color: eight colors, then the same eight with lines dashed and
// marks square, ...
std::string color_class(int n);
// A part of a page's document, and a figure for python/poslab/figures (lab/page/README.md).
nlohmann::json chart_json(const Chart&);
std::string csv_cell(std::string text);  // in quotes if need be
// panel,series,x,y,low,high: a row for each point with a number; low and high of a band.
std::string charts_csv(const std::vector<Chart>&);

// Fits the axes to all points. The y axis is longer by `room` times their range at each end, but begins at `floor` if
// `floor` is a number. A flat chart gets some room, and a chart without points does not change.
void fit(Chart&, double room = 0, double floor = std::nan(""));

// The lowest and highest point in each of `bins` intervals: the outline of a dense noisy curve.
std::vector<Point> outline(const std::vector<Point>&, size_t bins);
// Replaces each point by the mean of the `window` (odd) nearest ones: near an end, of the first or last ones.
std::vector<Point> smooth(const std::vector<Point>&, size_t window);
std::vector<Point> some_of(const std::vector<Point>&, size_t count);  // evenly spaced, including the first and the last

}  // namespace poslab::page
