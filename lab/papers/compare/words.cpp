#include "lab/papers/compare/words.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiment/build.h"
#include "lab/files/shell.h"
#include "lab/papers/compare/pictures.h"
#include "lab/papers/ruoss2023/ruoss2023.h"

namespace poslab::compare {

using namespace reproduce;
using namespace reproduce::ruoss2023;

namespace {

constexpr double learned = 0.9;  // below it at the lengths of training, what happens beyond them says little
constexpr size_t most_names = 8;  // in a sentence

std::string listed(const std::vector<std::string>& names) {
  const auto shown = std::ptrdiff_t(std::min(most_names, names.size()));
  const std::vector<std::string> first(names.begin(), names.begin() + shown);
  return fmt::format("{}{}", fmt::join(first, ", "),
                     names.size() > most_names ? fmt::format(" and {} more", names.size() - most_names) : "");
}

std::string with_interval(double mean, const Interval& i) {
  const std::string text = interval_text(i, false);
  return fmt::format("{} %{}", points(mean), text.empty() ? "" : " " + text);
}

std::string first_places(const Ranking& r) {
  const Choices& c = r.ranked[0].trial->config();
  std::string text =
      fmt::format("{} ranked by mean accuracy on the lengths {} to {} of {}: {} is first with {}",
                  counted(r.ranked.size(), "encoding"), c.whole("train_length") + 1, c.lengths("eval_lengths").to,
                  fmt::join(r.tasks, ", "), r.ranked[0].name, with_interval(r.ranked[0].mean, r.ranked[0].interval));
  for (size_t n = 1; n < std::min<size_t>(3, r.ranked.size()); ++n)
    text += fmt::format("{} {} ({} %)", n == 1 ? ", then" : " and", r.ranked[n].name, points(r.ranked[n].mean));
  return text + ".";
}

std::string ties(const Ranking& r) {
  if (std::isnan(r.ranked[0].interval.low))
    return "It has one seed and so no interval: which of the differences are luck remains open.";
  std::vector<std::string> names;
  for (size_t n = 1; n < r.ranked.size(); ++n)
    if (r.ranked[n].ties) names.push_back(r.ranked[n].name);
  if (names.empty()) return "No other has an interval that overlaps its own.";
  return fmt::format("Not told apart from it, as their intervals overlap its own: {}.", listed(names));
}

std::string beside_none(const Ranking& r) {
  int above = 0, below = 0, firmly_above = 0, firmly_below = 0;
  const Entry* none = nullptr;
  for (const Entry& e : r.ranked) {
    if (e.name == "none") none = &e;
    above += e.ahead.mean > 0, below += e.ahead.mean < 0;
    firmly_above += e.ahead.interval.low > 0, firmly_below += e.ahead.interval.high < 0;
  }
  if (!none || !(above + below)) return "";
  std::string text =
      fmt::format("Ahead of no positions at all ({} %): {}; behind: {}.", points(none->mean), above, below);
  if (!std::isnan(none->interval.low))
    text += fmt::format(" With an interval that excludes zero: {} ahead, {} behind.", firmly_above, firmly_below);
  return text;
}

std::string of_task(const Ranking& r, const std::string& task) {
  const auto mean = [&](const Entry& e) { return e.tasks.at(task).mean; };
  const auto [low, high] =
      std::minmax_element(r.ranked.begin(), r.ranked.end(), [&](auto& a, auto& b) { return mean(a) < mean(b); });
  std::string text = fmt::format("{}: from {} ({} %) to {} ({} %)", task, low->name, points(mean(*low)), high->name,
                                 points(mean(*high)));
  if (const auto b = baselines(r, task)) {
    const double best = std::max({b->chance, b->majority, b->content_only});
    const auto above = std::count_if(r.ranked.begin(), r.ranked.end(), [&](auto& e) { return mean(e) > best; });
    text += fmt::format("; chance {}, majority {}, content only {}: {} of {} are above all three", points(b->chance),
                        points(b->majority), points(b->content_only), above, r.ranked.size());
  }
  return text + ".";
}

std::string not_learned(const Ranking& r) {
  std::vector<std::string> names;
  const Entry* lowest = nullptr;
  for (const Entry& e : r.ranked) {
    if (e.trained < learned) names.push_back(e.name);
    if (!lowest || e.trained < lowest->trained) lowest = &e;
  }
  if (names.empty()) return fmt::format("At the lengths of training all have at least {:.0f} %.", 100 * learned);
  return fmt::format(
      "At the lengths of training {} of {} have less than {:.0f} %, so they have not learned the tasks yet: {}; the "
      "lowest is {} with {} %.",
      names.size(), r.ranked.size(), 100 * learned, listed(names), lowest->name, points(lowest->trained));
}

// Whether all that was tested is equal, loss and all.
bool same_results(const Entry& a, const Entry& b) {
  int runs = 0;
  for (const auto& [task, summary] : a.tasks) {
    const Summary& other = b.tasks.at(task);
    if (summary.at_lr.size() != other.at_lr.size()) return false;
    for (size_t n = 0; n < summary.at_lr.size(); ++n, ++runs)
      if (!std::equal(summary.at_lr[n]->tested.begin(), summary.at_lr[n]->tested.end(), other.at_lr[n]->tested.begin(),
                      other.at_lr[n]->tested.end(),
                      [](const AtLength& x, const AtLength& y) { return x.loss == y.loss && x.length == y.length; }))
        return false;
  }
  return runs > 0;
}

void add_twins(std::vector<std::string>& said, const Ranking& r) {
  std::set<std::string> seen;
  for (size_t n = 0; n < r.ranked.size(); ++n) {
    std::vector<std::string> twins = {r.ranked[n].name};
    if (!seen.insert(twins[0]).second) continue;
    for (size_t m = n + 1; m < r.ranked.size(); ++m)
      if (same_results(r.ranked[n], r.ranked[m])) twins.push_back(r.ranked[m].name), seen.insert(twins.back());
    if (twins.size() > 1)
      said.push_back(fmt::format("Equal to the last digit: {}. With these options they do the same at these lengths.",
                                 fmt::join(twins, ", ")));
  }
}

// Schemes whose window no string here reaches.
void add_windows(std::vector<std::string>& said, const Ranking& r, const Plan& plan) {
  int slots = 0;
  for (const Trial& t : plan)
    if (t.impossible.empty()) slots = std::max(slots, longest(t.config()));
  std::vector<std::string> names;
  for (const std::vector<Entry>* list : {&r.ranked, &r.unranked})
    for (const Entry& e : *list)
      if (const Choices c = RunSpec(e.trial->config()).scheme.choices; c.has("window") && c.whole("window") >= slots)
        names.push_back(fmt::format("{} ({})", e.name, c.whole("window")));
  if (!names.empty())
    said.push_back(
        fmt::format("Their windows are longer than any string here, of at most {} slots, so they do not show what they "
                    "are for: {}. A spelling such as {}:window=20 sets another.",
                    slots, fmt::join(names, ", "), names[0].substr(0, names[0].find_first_of(" :"))));
}

}  // namespace

std::vector<std::string> sentences(const Ranking& r) {
  if (r.ranked.empty()) return {"Nothing can be ranked yet."};
  std::vector<std::string> said = {first_places(r) + " " + ties(r)};
  if (const std::string text = beside_none(r); !text.empty()) said.push_back(text);
  for (const std::string& task : r.tasks) said.push_back(of_task(r, task));
  said.push_back(not_learned(r));
  return said;
}

std::vector<std::string> remarks(const Ranking& r, const Outcomes& outcomes) {
  std::vector<std::string> said = {how_many(outcomes), about_intervals(outcomes)};
  if (!r.ranked.empty())
    said.push_back(
        "Rank and mean: over those seeds of an encoding that are done on every task that counts, and these are the "
        "tasks on which every encoding with a result was tested. The difference to none is of equal seeds.");
  if (!r.ranked.empty() && !std::isnan(r.ranked[0].interval.low))
    said.push_back(
        "In bold: an interval that overlaps that of the best, and a difference whose interval excludes zero.");
  std::vector<std::string> left, open;
  for (const std::string& task : outcomes.tasks())
    if (std::find(r.tasks.begin(), r.tasks.end(), task) == r.tasks.end()) left.push_back(task);
  if (!left.empty() && !r.ranked.empty())
    said.push_back(fmt::format("Does not count yet, as it is not done for all: {}.", fmt::join(left, ", ")));
  for (const Entry& e : r.unranked)
    if (std::all_of(e.tasks.begin(), e.tasks.end(), [](auto& task) { return !task.second.runs; }))
      open.push_back(e.name);
  if (!open.empty()) said.push_back(fmt::format("Without any result yet: {}.", fmt::join(open, ", ")));
  if (std::any_of(r.ranked.begin(), r.ranked.end(), [](auto& e) { return !std::isnan(e.time); }))
    said.push_back(
        "Time of a step: that of none is 1. It is from the clock of these runs, and rough where they shared their "
        "cores with others.");
  add_windows(said, r, outcomes.plan());
  add_twins(said, r);
  return said;
}

}  // namespace poslab::compare
