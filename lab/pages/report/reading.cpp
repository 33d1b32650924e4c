// Two sentences computed from the test: which line holds at unseen lengths, which does not, and how many are above the
// baselines; if none is, that sentence comes first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "lab/pages/page/page.h"
#include "lab/pages/report/sections.h"

namespace poslab::report {
namespace {

using namespace page;

struct Standing {
  std::string name;
  double trained, unseen, baseline;   // baseline: the mean of the best one at each unseen length
  int from, to;                       // unseen lengths
};

Standing standing(const Line& line) {
  Standing s{colored(line), line.trained(), line.unseen(), best_baseline(line), 0,
             line.longest()};
  for (const Row& row : line.tested)
    if (row.length() > line.train_length() && !s.from) s.from = row.length();
  return s;
}

std::string lengths(const Standing& s) {
  return s.from == s.to ? fmt::format("length {}", s.to) : fmt::format("lengths {} to {}", s.from, s.to);
}

// Twice the standard error of the sum or difference of so many means over the unseen strings of a run. An upper bound:
// it takes each string for a single toss of a coin.
double noise(const Group& g, int means) {
  double strings = 0;
  const Line& line = g.lines[0];
  for (const Row& row : line.tested) strings += row.length() > line.train_length() ? row["samples"] : 0;
  return 2 * std::sqrt(means * .25 / strings);
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

std::string subject(const std::vector<Standing>& all, const std::vector<Standing>& above) {
  if (all.size() == 1) return all[0].name + (above.empty() ? " is not" : " is");
  if (above.size() == 1) return fmt::format("Of the {}, only {} is", all.size(), above[0].name);
  if (all.size() == 2) return above.empty() ? "Neither is" : "Both are";
  if (above.empty()) return fmt::format("None of the {} is", all.size());
  return above.size() == all.size() ? fmt::format("All {} are", all.size())
                                    : fmt::format("{} of the {} are", above.size(), all.size());
}

std::string above_baselines(const std::vector<Standing>& all, const std::vector<Standing>& above, double margin) {
  const auto [low, high] = std::minmax_element(
      all.begin(), all.end(), [](const Standing& a, const Standing& b) { return a.baseline < b.baseline; });
  const std::string least = percent(low->baseline), most = percent(high->baseline);
  return fmt::format("{} clearly above the best baseline of each unseen length, {} on average; a margin of up to "
                     "{:.1f} points may be noise.",
                     subject(all, above), least == most ? most : least + " to " + most, 100 * margin);
}

// The accuracies at unseen lengths. Only two lines, which were not picked, have an interval of their difference.
std::string accuracies(const Group& g, const std::vector<Standing>& all) {
  const Standing &best = all.front(), &worst = all.back();
  if (all.size() == 1)
    return fmt::format("{} gets {} of the answer slots right at unseen {}", best.name, percent(best.unseen),
                       lengths(best));
  if (best.from != worst.from || best.to != worst.to)
    return fmt::format("{} gets {} right at {}, {} gets {} at {}; the ranges differ, so the numbers do not compare",
                       best.name, percent(best.unseen), lengths(best), worst.name, percent(worst.unseen),
                       lengths(worst));
  if (all.size() > 2)
    return fmt::format("At unseen {} the best of {}, {}, gets {} of the answer slots right, and the last, {}, {}",
                       lengths(best), all.size(), best.name, percent(best.unseen), worst.name, percent(worst.unseen));
  if (const Difference d = difference(g.lines[0], g.lines[1]); d.paired.seeds > 1)
    return fmt::format(
        "At unseen {} {} gets {} of the answer slots right and {} {}, means over seeds: a gap of {} points, {}",
        lengths(best), best.name, percent(best.unseen), worst.name, percent(worst.unseen), points(d.paired.mean),
        d.paired.interval.excludes(0)
            ? fmt::format("95\u202f% interval {} to {} over {} paired seeds", signed_points(d.paired.interval.low),
                          signed_points(d.paired.interval.high), d.paired.seeds)
            : fmt::format("which {} paired seeds cannot tell from zero (95\u202f% interval {} to {})", d.paired.seeds,
                          signed_points(d.paired.interval.low), signed_points(d.paired.interval.high)));
  if (best.unseen - worst.unseen < noise(g, 2))
    return fmt::format("At unseen {} the runs do not differ beyond noise: {} at best, {} at worst", lengths(best),
                       percent(best.unseen), percent(worst.unseen));
  return fmt::format("At unseen {} {} gets {} of the answer slots right and {} {}, a gap of {:.1f} points",
                     lengths(best), best.name, percent(best.unseen), worst.name, percent(worst.unseen),
                     100 * (best.unseen - worst.unseen));
}

}  // namespace

std::string reading(const Group& g) {
  std::vector<Standing> all;
  for (const Line& line : g.lines) all.push_back(standing(line));
  std::sort(all.begin(), all.end(), [](const Standing& a, const Standing& b) { return a.unseen > b.unseen; });
  const auto unmeasured = std::find_if(all.begin(), all.end(), [](const Standing& s) { return std::isnan(s.unseen); });
  const std::string task = fmt::format("**{}.** ", heading(g));
  if (unmeasured != all.end())
    return task +
           fmt::format(
               "{} was not tested at lengths beyond its training range, so nothing can be said about unseen lengths.",
               unmeasured->name);
  const double margin = noise(g, 1);
  std::vector<Standing> above;
  std::copy_if(all.begin(), all.end(), std::back_inserter(above),
               [&](const Standing& s) { return s.unseen > s.baseline + margin; });
  const std::string scores = accuracies(g, all) + trained_clause(all) + ".",
                    baselines = above_baselines(all, above, margin);
  return task + (above.empty() ? baselines + " " + scores : scores + " " + baselines);
}

}  // namespace poslab::report
