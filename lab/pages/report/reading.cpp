// Two sentences computed from the test: which line holds at unseen lengths, which does not, and how many are above the
// baselines; if none is, that sentence comes first.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "lab/pages/page/page.h"
#include "lab/pages/report/sections.h"

namespace poslab::report {
namespace {

using namespace page;

struct Standing {
  const Line* line;
  std::string name;
  double trained, unseen, baseline;   // baseline: the mean of the best one at each unseen length
  double noise;                       // of `unseen`
  int from, to;                       // unseen lengths
};

// Twice the standard error of the mean over the unseen strings of a run. An upper bound: it takes each string for a
// single toss of a coin.
double noise(const Line& line) {
  double strings = 0;
  for (const Row& row : line.tested) strings += row.length() > line.train_length() ? row["samples"] : 0;
  return 2 * std::sqrt(.25 / strings);
}

Standing standing(const Line& line) {
  Standing s{&line, colored(line), line.trained(), line.unseen(), best_baseline(line), noise(line), 0, line.longest()};
  for (const Row& row : line.tested)
    if (row.length() > line.train_length() && !s.from) s.from = row.length();
  return s;
}

std::string lengths(const Standing& s) {
  return s.from == s.to ? fmt::format("length {}", s.to) : fmt::format("lengths {} to {}", s.from, s.to);
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

// "33.9 % to 35.1 %"
std::string baselines(const std::vector<Standing>& all) {
  const auto [low, high] = std::minmax_element(
      all.begin(), all.end(), [](const Standing& a, const Standing& b) { return a.baseline < b.baseline; });
  const std::string least = percent(low->baseline), most = percent(high->baseline);
  return least == most ? most : least + " to " + most;
}

std::string above_baselines(const std::vector<Standing>& all, const std::vector<Standing>& above) {
  const auto [low, high] = std::minmax_element(
      all.begin(), all.end(), [](const Standing& a, const Standing& b) { return a.noise < b.noise; });
  const std::string least = fmt::format("{:.1f}", 100 * low->noise), most = fmt::format("{:.1f}", 100 * high->noise);
  return fmt::format("{} clearly above the best baseline of each unseen length, {} on average; a margin of up to {} "
                     "points{} may be noise.", subject(all, above), baselines(all), least,
                     least == most ? "" : fmt::format(", or {} in the smallest test,", most));
}

// The accuracies at unseen lengths. Only two lines, which were not picked, have an interval of their difference.
std::string accuracies(const std::vector<Standing>& all) {
  const Standing &best = all.front(), &worst = all.back();
  if (all.size() == 1)
    return fmt::format("{} gets {} of the answer slots right at unseen {}", best.name, percent(best.unseen),
                       lengths(best));
  const auto apart = std::find_if(all.rbegin(), all.rend(), [&](const Standing& s) {
    return s.from != best.from || s.to != best.to;
  });
  if (apart != all.rend())
    return fmt::format("{} gets {} right at {}, {} gets {} at {}; the ranges differ, so the numbers do not compare",
                       best.name, percent(best.unseen), lengths(best), apart->name, percent(apart->unseen),
                       lengths(*apart));
  if (all.size() > 2)
    return fmt::format("At unseen {} the best of {}, {}, gets {} of the answer slots right, and the last, {}, {}",
                       lengths(best), all.size(), best.name, percent(best.unseen), worst.name, percent(worst.unseen));
  if (const Difference d = difference(*best.line, *worst.line); d.paired.seeds > 1)
    return fmt::format(
        "At unseen {} {} gets {} of the answer slots right and {} {}, means over seeds: a gap of {} points, {}",
        lengths(best), best.name, percent(best.unseen), worst.name, percent(worst.unseen), points(d.paired.mean),
        d.paired.interval.excludes(0)
            ? fmt::format("95\u202f% interval {} to {} over {} paired seeds", signed_points(d.paired.interval.low),
                          signed_points(d.paired.interval.high), d.paired.seeds)
            : fmt::format("which {} paired seeds cannot tell from zero (95\u202f% interval {} to {})", d.paired.seeds,
                          signed_points(d.paired.interval.low), signed_points(d.paired.interval.high)));
  if (best.unseen - worst.unseen < std::hypot(best.noise, worst.noise))
    return fmt::format("At unseen {} the runs do not differ beyond noise: {} at best, {} at worst", lengths(best),
                       percent(best.unseen), percent(worst.unseen));
  return fmt::format("At unseen {} {} gets {} of the answer slots right and {} {}, a gap of {:.1f} points",
                     lengths(best), best.name, percent(best.unseen), worst.name, percent(worst.unseen),
                     100 * (best.unseen - worst.unseen));
}

}  // namespace

std::string reading(const Group& g) {
  std::vector<Standing> all, above;
  std::vector<std::string> unmeasured;
  for (const Line& line : g.lines)
    if (const Standing s = standing(line); std::isnan(s.unseen)) unmeasured.push_back(s.name);
    else all.push_back(s);
  std::sort(all.begin(), all.end(), [](const Standing& a, const Standing& b) { return a.unseen > b.unseen; });
  const std::string task = fmt::format("**{}.** ", heading(g));
  const std::string trained_alone = fmt::format("{} {} not tested at lengths beyond the training range",
                                                fmt::join(unmeasured, ", "), unmeasured.size() == 1 ? "was" : "were");
  if (all.empty()) return task + trained_alone + ", so nothing can be said about unseen lengths.";
  std::copy_if(all.begin(), all.end(), std::back_inserter(above),
               [](const Standing& s) { return s.unseen > s.baseline + s.noise; });
  const std::string scores = accuracies(all) + trained_clause(all) + ".", beside = above_baselines(all, above);
  return task + (above.empty() ? beside + " " + scores : scores + " " + beside) +
         (unmeasured.empty() ? "" : fmt::format(" {}.", trained_alone));
}

}  // namespace poslab::report
