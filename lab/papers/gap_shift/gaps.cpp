// What changes with the length: how far apart neighbours are in training and at each test length. Nothing is trained.
#include <fmt/format.h>

#include <algorithm>

#include "experiment/coverage.h"
#include "lab/pages/page/page.h"
#include "lab/papers/gap_shift/gap_shift.h"

namespace poslab::reproduce::gap_shift {
namespace {

struct Spread {
  double mean, close;  // mean gap; share of gaps of 1 or less
};

Spread spread(const Histogram& counts) {
  double sum = 0, all = 0, close = 0;
  for (const auto& [gap, n] : counts)
    sum += double(gap) * double(n), all += double(n), close += gap <= 1 ? double(n) : 0;
  return {sum / all, close / all};
}

std::string stated(const Spread& s) { return fmt::format("mean gap {:.3g}\n1 or less: {} %", s.mean, points(s.close)); }

page::Curve curve(const std::string& name, int color, const Histogram& counts, int most) {
  double all = 0;
  for (const auto& [gap, n] : counts) all += double(n);
  page::Curve c{name, color, {}, {}};
  for (int gap = counts.count(0) ? 0 : 1; gap <= most; ++gap)
    c.points.push_back({double(gap), counts.count(gap) ? double(counts.at(gap)) / all : 0});
  return c;
}

Picture histograms(const Coverage& met, const Training& t, const Choices& c) {
  constexpr int most = 40;
  page::Chart chart = accuracy_chart("gaps-" + t.positions.substr(0, t.positions.find(':')),
                                     fmt::format("Gaps between neighbours, {}, {}", t.name, c["task"]), "gap", 0, most);
  chart.y_label = "share of neighbours", chart.y_high = 0.1, chart.unit = "gap";
  chart.curves.push_back(curve("training", 0, met.trained, most));
  for (const Coverage::Test& test : met.tests)
    chart.curves.push_back(curve(fmt::format("length {}", test.length), int(chart.curves.size()), test.met, most));
  for (const page::Curve& one : chart.curves)
    for (const page::Point p : one.points) chart.y_high = std::min(1., std::max(chart.y_high, 1.05 * p.y));
  chart.description = fmt::format(
      "How often neighbouring slots are so many positions apart, in training to length {} "
      "and at {} test lengths.",
      c.whole("train_length"), met.tests.size());
  return picture(chart, fmt::format("<b>{}.</b> Gaps up to {}, rounded to whole numbers.", page::headed(t.name), most));
}

}  // namespace

Section gaps(const Outcomes&, const Choices& defaults) {
  Section s;
  s.data = {{"task", "trained", "test_positions", "length", "mean_gap", "share_of_1_or_less", "overlap"}, {}};
  for (const char* name : {"reverse_string", "missing_duplicate_string"}) {
    Choices c = on_task(defaults, name);
    c.set("encoding", "sincos");  // which reads a position for each token
    Grid table{fmt::format("{}: how much of the gaps at test training has as often, in %, with the mean gap and the "
                           "share of gaps of 1 or less",
                           name),
               {"positions", "training"},
               {}};
    for (const int length : lengths(c)) table.head.push_back(fmt::format("length {}", length));
    for (const Training& t : trainings(c))
      for (const bool even : {false, true}) {
        c.set("positions", t.positions);
        c.set("test_positions", even ? even_positions(c) : "same");
        const Coverage met = poslab::gaps(c, lengths(c));
        const Spread trained = spread(met.trained);
        std::vector<Cell> row = {{even ? t.name + ", in equal steps at test" : t.name}, {"", stated(trained)}};
        if (!even) s.data.rows.push_back({name, t.positions, "", nullptr, trained.mean, trained.close, 1});
        for (const Coverage::Test& test : met.tests) {
          const double overlap = in_common(met.trained, test.met);
          const Spread at = spread(test.met);
          row.push_back({points(overlap), stated(at)});
          s.data.rows.push_back({name, t.positions, c["test_positions"], test.length, at.mean, at.close, overlap});
        }
        table.rows.push_back(std::move(row));
        if (even) continue;
        const Coverage::Test& last = met.tests.back();
        s.readings.push_back(fmt::format(
            "{}, {}: neighbours are {:.3g} apart on average in training and {:.3g} at length {}; {} and {} % of the "
            "gaps are 1 or less; the two distributions have {} % in common.",
            name, t.name, trained.mean, spread(last.met).mean, last.length, points(trained.close),
            points(spread(last.met).close), points(in_common(met.trained, last.met))));
        if (c["task"] == "reverse_string") s.pictures.push_back(histograms(met, t, c));
      }
    s.grids.push_back(std::move(table));
  }
  s.notes = {
      fmt::format("Nothing is trained for this table: lengths and positions are drawn as in training to length "
                  "{} from a pool of {}, in 2,000 of its steps, and as at test, in 64 draws. Gaps are rounded.",
                  defaults.whole("train_length"), defaults.whole("max_position")),
      "Bucket Sort has as many slots as Reverse String.",
      "In equal steps all gaps are the same, so that they have no more in common with training than the share of "
      "that one gap. They need not be worse for it.",
      "Uniform sampling: Ruoss et al. 2023. Random floats and their test in equal steps: random float sampling, "
      "Shimizu, Taniguchi and Matsuo 2026 (arXiv 2602.14050), as told in a note on the paper. Log density and "
      "blocks are poslab's own."};
  return s;
}

}  // namespace poslab::reproduce::gap_shift
