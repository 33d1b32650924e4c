// Two sentences computed from the test: which line holds at unseen lengths and which does not, and how many are above
// the baselines. If none is, the second sentence comes first.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "lab/pages/page/page.h"
#include "lab/pages/report/sections.h"

namespace poslab::report {
namespace {

using namespace page;

struct Standing {
  const Line* line;
  std::string name, lengths;         // lengths: "unseen lengths 5 to 8"
  double trained, unseen, baseline;  // baseline: the mean of the best one at each unseen length
  // The noise of `unseen`: twice the standard error of the mean over the unseen strings of a run, each counted as one
  // toss of a coin, which is an upper bound.
  double noise;
};

Standing standing(const Line& line) {
  double strings = 0;
  int from = 0;
  for (const Row& row : line.tested) {
    if (row.length() <= line.train_length()) continue;
    if (!from) from = row.length();
    strings += row["samples"];
  }
  const int to = line.longest();
  return {&line,
          colored(line),
          from == to ? fmt::format("unseen length {}", to) : fmt::format("unseen lengths {} to {}", from, to),
          line.trained(),
          line.unseen(),
          best_baseline(line),
          2 * std::sqrt(.25 / strings)};
}

// "33.9 % to 35.1 %", or one number if both look the same.
std::string range(const std::vector<Standing>& all, double Standing::*figure, std::string (*written)(double)) {
  const auto [low, high] = std::minmax_element(
      all.begin(), all.end(), [&](const Standing& a, const Standing& b) { return a.*figure < b.*figure; });
  const std::string least = written(*low.*figure), most = written(*high.*figure);
  return least == most ? most : least + " to " + most;
}

std::string subject(size_t all, const std::vector<std::string>& above, const std::string& first) {
  if (all == 1) return first + (above.empty() ? " is not" : " is");
  if (above.size() == 1) return fmt::format("Of the {}, only {} is", all, above[0]);
  if (above.empty()) return all == 2 ? "Neither is" : fmt::format("None of the {} is", all);
  if (above.size() == all) return all == 2 ? "Both are" : fmt::format("All {} are", all);
  return fmt::format("{} of the {} are", above.size(), all);
}

// The accuracies at unseen lengths. Of more than two lines, the two that are named are picked by score: no interval.
std::string accuracies(const std::vector<Standing>& all) {
  const Standing &best = all.front(), &worst = all.back();
  if (all.size() == 1)
    return fmt::format("{} gets {} of the answer slots right at {}", best.name, percent(best.unseen), best.lengths);
  const auto apart =
      std::find_if(all.rbegin(), all.rend(), [&](const Standing& s) { return s.lengths != best.lengths; });
  if (apart != all.rend())
    return fmt::format("{} gets {} right at {}, {} gets {} at {}; the ranges differ, so these cannot be compared",
                       best.name, percent(best.unseen), best.lengths, apart->name, percent(apart->unseen),
                       apart->lengths);
  if (all.size() > 2)
    return fmt::format("At {} the best of {}, {}, gets {} of the answer slots right, and the last, {}, {}",
                       best.lengths, all.size(), best.name, percent(best.unseen), worst.name, percent(worst.unseen));
  const std::string both = fmt::format("At {} {} gets {} of the answer slots right and {} {}", best.lengths, best.name,
                                       percent(best.unseen), worst.name, percent(worst.unseen));
  if (const Paired d = difference(*best.line, *worst.line).paired; d.seeds > 1)
    return fmt::format("{}, means over seeds: a gap of {} points, 95\u202f% interval {} to {} over {} paired seeds{}",
                       both, points(d.mean), signed_points(d.interval.low), signed_points(d.interval.high), d.seeds,
                       d.interval.excludes(0) ? "" : ", so the gap may be zero");
  const double gap = best.unseen - worst.unseen;
  return fmt::format("{}, a gap of {} points{}", both, points(gap),
                     gap < std::hypot(best.noise, worst.noise) ? ", which may be noise" : "");
}

}  // namespace

std::string reading(const Group& g) {
  std::vector<Standing> all;
  std::vector<std::string> unmeasured;
  for (const Line& line : g.lines)
    if (Standing s = standing(line); std::isnan(s.unseen))
      unmeasured.push_back(s.name);
    else
      all.push_back(std::move(s));
  std::stable_sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.unseen > b.unseen; });
  const std::string task = fmt::format("**{}.** ", heading(g));
  const std::string trained_alone = fmt::format("{} {} not tested at lengths beyond the training range",
                                                fmt::join(unmeasured, ", "), unmeasured.size() == 1 ? "was" : "were");
  if (all.empty()) return task + trained_alone + ", so nothing can be said about unseen lengths.";
  std::string scores = accuracies(all);
  if (std::none_of(all.begin(), all.end(), [](const Standing& s) { return std::isnan(s.trained); }))
    scores += fmt::format("; at trained lengths {} right", range(all, &Standing::trained, percent));
  std::vector<std::string> above;
  for (const Standing& s : all)
    if (s.unseen > s.baseline + s.noise) above.push_back(s.name);
  const std::string beside = fmt::format(
      "{} clearly above the best baseline of each unseen length, {} on average; a margin of up to {} points may be "
      "noise.",
      subject(all.size(), above, all[0].name), range(all, &Standing::baseline, percent),
      range(all, &Standing::noise, points));
  return task + (above.empty() ? beside + " " + scores + "." : scores + ". " + beside) +
         (unmeasured.empty() ? "" : fmt::format(" {}.", trained_alone));
}

}  // namespace poslab::report
