// One or two sentences computed from the test: which line holds at unseen lengths, which does not, by how much.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/pages/page/page.h"
#include "lab/pages/report/sections.h"

namespace poslab::report {
namespace {

using namespace page;

struct Standing {
  const Line* line;
  std::string name;
  double trained, unseen, chance;
  int from, to;
};

Standing standing(const Line& line) {
  Standing s{&line,
             fmt::format("<span class=\"{}\">{}</span>", color_class(line.color), escape(line.name)),
             line.accuracy(1, line.train_length()),
             line.unseen(),
             0,
             0,
             line.longest()};
  int n = 0;
  for (const Row& row : line.tested)
    if (row.length() > line.train_length()) {
      if (!n++) s.from = row.length();
      s.chance += std::max({row["chance"], row["majority"], row["content_only"]});
    }
  s.chance /= std::max(n, 1);
  return s;
}

std::string lengths(const Standing& s) {
  return s.from == s.to ? fmt::format("length {}", s.to) : fmt::format("lengths {} to {}", s.from, s.to);
}

// Twice the standard error of a difference of two means over all unseen strings, were every string one coin: a bound.
double noise(const Group& g) {
  double strings = 0;
  const Line& line = g.lines[0];
  for (const Row& row : line.tested) strings += row.length() > line.train_length() ? row["samples"] : 0;
  return 2 * std::sqrt(2 * .25 / strings);
}

std::string trained_clause(const std::vector<Standing>& all) {
  double low = 1, high = 0;
  for (const Standing& s : all) {
    if (std::isnan(s.trained)) return "";
    low = std::min(low, s.trained), high = std::max(high, s.trained);
  }
  const char* both = all.size() == 2 ? "both" : "all";
  if (all.size() == 1) return fmt::format(", and {} of those at trained lengths", percent(low));
  if (low >= .95) return fmt::format(", although at trained lengths {} get at least {} right", both, percent(low));
  return fmt::format("; at trained lengths they get between {} and {} right", percent(low), percent(high));
}

}  // namespace

std::string reading(const Group& g) {
  std::vector<Standing> all;
  for (const Line& line : g.lines) all.push_back(standing(line));
  std::sort(all.begin(), all.end(), [](const Standing& a, const Standing& b) { return a.unseen > b.unseen; });
  const auto unmeasured = std::find_if(all.begin(), all.end(), [](const Standing& s) { return std::isnan(s.unseen); });
  const std::string task = fmt::format("<b>{}.</b> ", headed(g.task));
  if (unmeasured != all.end())
    return task +
           fmt::format(
               "{} was not tested at lengths beyond its training range, so nothing can be said about unseen lengths.",
               unmeasured->name);
  const Standing &best = all.front(), &worst = all.back();
  std::string text = task;
  if (all.size() == 1)
    text += fmt::format("{} gets {} of the answer slots right at unseen {}", best.name, percent(best.unseen),
                        lengths(best));
  else if (best.from != worst.from || best.to != worst.to)
    text +=
        fmt::format("{} gets {} right at {}, {} gets {} at {}; the ranges differ, so the numbers do not compare",
                    best.name, percent(best.unseen), lengths(best), worst.name, percent(worst.unseen), lengths(worst));
  else if (const Difference d = difference(*best.line, *worst.line); d.paired.seeds > 1)
    text += fmt::format(
        "At unseen {} {} gets {} of the answer slots right and {} {}, means over seeds: a gap of {} points, {}",
        lengths(best), best.name, percent(best.unseen), worst.name, percent(worst.unseen), points(d.paired.mean),
        d.paired.interval.excludes(0)
            ? fmt::format("95&#8239;% interval {} to {} over {} paired seeds", signed_points(d.paired.interval.low),
                          signed_points(d.paired.interval.high), d.paired.seeds)
            : fmt::format("which {} paired seeds cannot tell from zero (95&#8239;% interval {} to {})", d.paired.seeds,
                          signed_points(d.paired.interval.low), signed_points(d.paired.interval.high)));
  else if (best.unseen - worst.unseen < noise(g))
    text += fmt::format("At unseen {} the runs do not differ beyond noise: {} at best, {} at worst", lengths(best),
                        percent(best.unseen), percent(worst.unseen));
  else
    text += fmt::format("At unseen {} {} gets {} of the answer slots right and {} {}, a gap of {:.1f} points",
                        lengths(best), best.name, percent(best.unseen), worst.name, percent(worst.unseen),
                        100 * (best.unseen - worst.unseen));
  text += trained_clause(all) + ". ";
  if (best.unseen <= best.chance + noise(g))
    text += fmt::format("None is above the best baseline, {}.", percent(best.chance));
  else
    text += fmt::format("The best baseline gets {}.", percent(best.chance));
  return text;
}

}  // namespace poslab::report
