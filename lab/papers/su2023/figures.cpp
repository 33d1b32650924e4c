// Accuracy against length, and the matrices of relative positions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/pages/page/page.h"
#include "lab/pages/show/show.h"
#include "lab/papers/su2023/su2023.h"
#include "lab/papers/telling.h"

namespace poslab::reproduce::su2023 {
namespace {

const std::vector<int> times_tested = {1, 2, 4, stretch};

page::Chart chart_of(const Results& r, bool repeated, Section& s) {
  const int length = r.setup().length();
  page::Chart chart{repeated ? "lengths-repeated" : "lengths-long",
                    fmt::format("Accuracy against length, {} texts", repeated ? "repeated" : "long"),
                    "",
                    "tokens of a window",
                    "accuracy",
                    0,
                    double(stretch * length),
                    0,
                    1,
                    true,
                    false,
                    double(length),
                    {}};
  Grid grid{fmt::format("Accuracy in % on {} texts", repeated ? "repeated" : "long"), {"method"}, {}};
  for (const int times : times_tested) grid.head.push_back(fmt::format("{}", times * length));
  for (const Method& m : length_methods(r.setup())) {
    std::vector<Cell> row(1, Cell{m.name});
    page::Curve curve{m.name, int(chart.curves.size()), {}, {}};
    for (const int times : times_tested) {
      const BySeed ours = r.accuracy(m, times, repeated);
      row.push_back({points(mean(ours))});
      if (ours.empty()) continue;
      const Interval i = bootstrap(values(ours));
      curve.points.push_back({double(times * length), mean(ours)});
      if (!std::isnan(i.low)) curve.band.push_back({double(times * length), i.low, i.high});
      s.data.rows.push_back({m.name, repeated ? "repeated" : "plain", times * length, ours.size(), mean(ours),
                             number(i.low), number(i.high)});
    }
    grid.rows.push_back(std::move(row));
    if (curve.points.empty()) continue;
    chart.description += fmt::format("{}: {} % at {}, {} % at {}. ", m.name, points(curve.points.front().y),
                                     curve.points.front().x, points(curve.points.back().y), curve.points.back().x);
    chart.curves.push_back(std::move(curve));
  }
  s.grids.push_back(std::move(grid));
  return chart;
}

}  // namespace

Section lengths_figure(const Results& r) {
  Section s;
  s.data = {{"method", "set", "length", "seeds", "accuracy", "interval_low", "interval_high"}, {}};
  for (const bool repeated : {true, false}) {
    const page::Chart chart = chart_of(r, repeated, s);
    if (chart.curves.empty()) continue;
    s.pictures.push_back(
        picture(chart, fmt::format("<b>{} texts.</b> Mean over the seeds, with the interval of the mean. The shaded "
                                   "length was trained.",
                                   repeated ? "Repeated" : "Long")));
  }
  s.notes = {"A repeated text has a unit of twice the trained length, or of half the tested length if that is less."};
  return s;
}

Section matrices_figure(const Results&) {
  constexpr int length = 16;
  show::Asked asked;
  for (const show::Set& set : show::all_sets())
    if (set.name == "rerope") asked.encodings = set.encodings(length);
  asked.views = {"relative"}, asked.length = length, asked.causal = true;
  const std::vector<show::View> views = show::views(asked);
  Section s;
  s.data = {{"scheme", "query", "key", "relative_position"}, {}};
  for (const show::Matrix& m : views[0].matrices)
    for (int i = 0; i < m.rows; ++i)
      for (int j = 0; j <= i; ++j) s.data.rows.push_back({m.of, i, j, m.heads[0][size_t(i * m.cols + j)]});
  s.pictures = {
      {fmt::format("<figure><img style=\"max-width:100%\" alt=\"Six matrices: which relative position each scheme "
                   "makes of a query (row) and a key (column).\" src=\"{}\"><figcaption>{}</figcaption></figure>\n",
                   data_uri("image/svg+xml", show::svg(views, 1)), page::escape(views[0].reading)),
       {}}};
  s.notes = {"`poslab show --set rerope` draws them at any length, on the terminal too."};
  return s;
}

}  // namespace poslab::reproduce::su2023
