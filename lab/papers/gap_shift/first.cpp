// Which comes first, the gap or the length? Both change when uniform sampling meets a longer string. Here one of them
// changes at a time, and all positions stay within the pool:
//
//   as trained        n slots of N positions
//   the gap alone     n slots of N (n + 1) / (n' + 1) positions, a part of the pool
//   the length alone  from there to n' slots of N positions
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiment/build.h"
#include "lab/files/shell.h"
#include "lab/papers/gap_shift/gap_shift.h"

namespace poslab::reproduce::gap_shift {
namespace {

constexpr double learned = 0.25;  // of the way from majority to all right: below that there is little to lose

struct Losses {
  BySeed home, by_gap, by_length, to_one, by_length_at_one;
};

std::string name_of(const std::string& task, const std::string& encoding) {
  return fmt::format("{}, {}", task, encoding);
}

// "Setting by setting: the gap costs more in 3, the length in 1, and 2 are inconclusive."
std::string one_by_one(const std::vector<BySeed>& by_gap, const std::vector<BySeed>& by_length) {
  int gap = 0, length = 0;
  for (size_t n = 0; n < by_gap.size(); ++n) {
    const Interval i = paired(by_gap[n], by_length[n]).interval;
    gap += i.low > 0, length += i.high < 0;
  }
  return fmt::format("Setting by setting: the gap costs more in {}, the length in {}, and {} are inconclusive.", gap,
                     length, int(by_gap.size()) - gap - length);
}

// All that starts from one trained length.
struct FromLength {
  int length;
  Grid table;
  std::vector<std::string> unlearned = {};
  std::vector<BySeed> by_gap = {}, by_length = {}, to_one = {}, by_length_at_one = {};

  void add(const Choices& c, const std::string& encoding, int longest, const Losses& l, const std::string& below) {
    const double there = own_gap(c, longest);
    const std::string gaps =
        fmt::format("{}mean gap {:.3g}, at length {} {:.3g}", below, own_gap(c, length), longest, there);
    table.rows.push_back({{name_of(c["task"], encoding), gaps},
                          {points(mean(l.home))},
                          in_points(l.by_gap).cell,
                          in_points(l.by_length).cell,
                          in_points(l.to_one).cell,
                          in_points(l.by_length_at_one).cell});
    if (mean(l.home) < learned) return unlearned.push_back(name_of(c["task"], encoding));
    by_gap.push_back(l.by_gap), by_length.push_back(l.by_length);
    to_one.push_back(l.to_one), by_length_at_one.push_back(l.by_length_at_one);
  }
  std::vector<std::string> readings(int longest) const {
    if (by_gap.empty())
      return {fmt::format("No setting has learned the strings of length {} well enough to lose anything.", length)};
    const auto stated = [](const std::vector<BySeed>& gap, const std::vector<BySeed>& length) {
      return fmt::format("{} {}", which_first(average(gap), average(length)), one_by_one(gap, length));
    };
    std::vector<std::string> said = {fmt::format("From length {} to {} with uniform sampling, mean of {}: {}", length,
                                                 longest, counted(by_gap.size(), "setting"), stated(by_gap, by_length)),
                                     fmt::format("From length {} to {} with the gap all the way down to 1: {}", length,
                                                 longest, stated(to_one, by_length_at_one))};
    if (!unlearned.empty())
      said.push_back(
          fmt::format("Not in these means, as they are less than {:.0f} % of the way from the majority to all "
                      "right at length {}: {}.",
                      100 * learned, length, fmt::join(unlearned, "; ")));
    return said;
  }
};

}  // namespace

Section first(const Outcomes& outcomes, const Choices& defaults) {
  Section s;
  const std::vector<int> tested = lengths(defaults);
  const int longest = tested.back();
  s.data = by_seed_table({"task", "encoding", "length", "longest", "gap", "gap_at_longest", "change"}, "loss", false);
  std::vector<FromLength> homes;
  for (const int length : tested)
    if (length <= defaults.whole("train_length") && length < longest)
      homes.push_back({length,
                       {fmt::format("From length {} to {}: points lost when only the gap or only the length "
                                    "changes, and their intervals",
                                    length, longest),
                        {"task, encoding", fmt::format("as trained, length {}", length), "gap alone", "length alone",
                         "gap alone, to 1", "length alone, at gap 1"},
                        {}}});
  if (homes.empty()) {
    s.readings = {"No length beyond the trained ones is tested; raise eval_lengths."};
    return s;
  }
  const std::vector<Setting> all = settings(outcomes, defaults);
  Tests tests(all);
  for (const Setting& setting : all) {
    if (setting.models.at_lr.empty()) continue;
    const Choices c = on_task(defaults, setting.task);
    const std::string squeezed = scattered(own_gap(c, longest));
    std::vector<Test> asked = {{longest, "same"}, {longest, "contiguous"}};
    for (const FromLength& h : homes)
      for (const std::string& positions : {std::string("same"), squeezed, std::string("contiguous")})
        asked.push_back({h.length, positions});
    std::vector<BySeed> skill = tests(setting, asked, strings(c));
    for (size_t n = 0; n < asked.size(); ++n) {
      const Scale skill_of = scale(c, asked[n].length);
      for (auto& [seed, accuracy] : skill[n]) accuracy = skill_of(accuracy);
    }
    for (size_t n = 0; n < homes.size(); ++n) {
      const BySeed *at = &skill[2 + 3 * n], &far = skill[0], &far_one = skill[1];
      const Losses l{at[0], difference(at[0], at[1]), difference(at[1], far), difference(at[0], at[2]),
                     difference(at[2], far_one)};
      homes[n].add(c, setting.encoding, longest, l, partly(setting.models));
      const Line row{
          {},
          {setting.task, setting.encoding, homes[n].length, longest, own_gap(c, homes[n].length), own_gap(c, longest)}};
      for (const auto& [change, loss] : {std::pair{"gap", &l.by_gap},
                                         {"length", &l.by_length},
                                         {"gap to 1", &l.to_one},
                                         {"length at gap 1", &l.by_length_at_one}})
        add_data(s, row, {{}, {change}}, in_points(*loss));
    }
  }
  for (const FromLength& h : homes) {
    for (const std::string& one : h.readings(longest)) s.readings.push_back(one);
    s.grids.push_back(h.table);
  }
  s.notes = {
      how_many(outcomes),
      "Points: 0 is the accuracy of the most frequent symbol of each slot, 100 is all right. Accuracies alone would "
      "not compare lengths: in Bucket Sort that symbol is right ever more often as strings become longer.",
      "Gap alone: the same strings in the part of the pool in which their mean gap is that of uniform sampling at the "
      "longest length. Length alone: from there to strings of that length with uniform sampling, which have this gap. "
      "The two add up to all that is lost. The last two columns do the same with gap 1 (`contiguous`). No position "
      "leaves the pool.",
      "Length, gap and the part of the pool that a string covers are tied: where the first two are said, the third "
      "follows. Gap alone also means that a string covers less of the pool.",
      "The gap changes first, as longer strings with the gap of shorter ones would leave the pool. Near the majority, "
      "at 0 points, the length then has little left to take.",
      about_intervals(outcomes) + " Bold: the interval excludes zero. Means over settings are taken for each seed.",
      "That randomized positions keep distances in distribution is the claim of Ruoss et al. 2023. Nearest to this "
      "question: random float sampling (Shimizu, Taniguchi and Matsuo 2026, arXiv 2602.14050) and Randomized YaRN "
      "(Mehta, Yin and Durrett 2026, arXiv 2606.23687), which enlarges the range of positions while it trains."};
  return s;
}

}  // namespace poslab::reproduce::gap_shift
