// Accuracy against length, and the matrices of relative positions.
#include <fmt/format.h>

#include <cmath>

#include "lab/pages/page/page.h"
#include "lab/pages/show/show.h"
#include "lab/papers/pivot.h"
#include "lab/papers/su2023/su2023.h"
#include "lab/papers/wording.h"

namespace poslab::reproduce::su2023 {
namespace {

const std::vector<int> times_tested = {1, 2, 4, stretch};

page::Chart chart_of(const Results& r, bool repeated, Section& s) {
  const int length = r.setup().length();
  const std::string texts = repeated ? "repeated" : "long";
  page::Chart chart = accuracy_chart("lengths-" + texts, fmt::format("Accuracy against length, {} texts", texts),
                                     "tokens of a window", 0, stretch * length, length);
  const std::vector<Method> methods = length_methods(r.setup());
  const auto row = [&](const Method& m) { return Line{{m.name}, {m.name, repeated ? "repeated" : "plain"}}; };
  const auto column = [&](int times) { return Line{{fmt::format("{}", times * length)}, {times * length}}; };
  add(s, {fmt::format("Accuracy in % on {} texts", texts), "method", lines(methods, row), lines(times_tested, column),
          [&](size_t m, size_t n) {
            Value v = accuracy(r.accuracy(methods[m], times_tested[n], repeated));
            v.cell.below.clear();
            if (std::isnan(v.rank)) v.data.clear();
            return v;
          }});
  for (const Method& m : methods) {
    page::Curve curve{m.name, int(chart.curves.size()), {}, {}};
    for (const int times : times_tested) add_point(curve, times * length, r.accuracy(m, times, repeated));
    add_curve(chart, std::move(curve));
  }
  return chart;
}

}  // namespace

Section lengths_figure(const Results& r) {
  Section s;
  s.data = by_seed_table({"method", "set", "length"}, "accuracy", false);
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
  show::Options options;
  for (const show::Set& set : show::all_sets())
    if (set.name == "rerope") options.encodings = set.encodings(length);
  options.views = {"relative"}, options.length = length, options.causal = true;
  const std::vector<show::View> views = show::views(options);
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
