// The paper against its released code: what they do differently (spec 0 and A.2), each trained both ways.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lab/papers/ruoss2023/ruoss2023.h"

namespace poslab::reproduce::ruoss2023 {
namespace {

// One option, or two, set otherwise than the artifact's other trials have it.
struct Choice {
  std::string encoding, positions;
  std::map<std::string, std::string> options;
  std::string base, other;  // in words
};

std::vector<Choice> choices(const Choices& defaults) {
  const std::string once = "positions drawn once a pass (paper)", layers = "in every layer (code)";
  // On in the released code, which has no switch for it; a size that has it off is asked the other way round.
  const std::string flips = defaults.on("test_dropout") ? "off" : "on";
  return {{"relative",
           "randomized",
           {{"encoding", "relative:mode=offset_table"}},
           "true differences (paper)",
           "a table of sorted offsets"},
          {"relative",
           "randomized",
           {{"encoding", "relative:mode=released"}},
           "true differences (paper)",
           "that table through the clamped lookup (code)"},
          {"relative",
           "randomized",
           {{"encoding", "relative:mode=released"}, {"resample", "per_layer"}},
           "true differences, drawn once a pass (paper)",
           "the clamped lookup, drawn in every layer (code: both at once)"},
          {"relative", "randomized", {{"resample", "per_layer"}}, once, layers},
          {"rope", "randomized", {{"resample", "per_layer"}}, once, layers},
          {"relative",
           "randomized",
           {{"test_dropout", flips}},
           flips == "off" ? "dropout at test (code)" : "no dropout at test",
           flips == "off" ? "no dropout at test" : "dropout at test (code)"},
          {"alibi",
           "sequential",
           {{"encoding", "alibi:symmetric"}},
           "left and right differ by 0.5 (code)",
           "symmetric"},
          {"alibi",
           "randomized",
           {{"encoding", "alibi:symmetric"}},
           "left and right differ by 0.5 (code)",
           "symmetric"}};
}

// "encoding, resample" or "relative:mode=released, per_layer"
std::string joined(const Choice& c, bool names) {
  std::string all;
  for (const auto& [name, value] : c.options) all += (all.empty() ? "" : ", ") + (names ? name : value);
  return all;
}

// Whether a trial has these options, and all that other choices set as the size has it.
bool has(const Choices& c, const Choice& choice, const std::vector<Choice>& all, const Choices& defaults) {
  for (const Choice& any : all)
    for (const auto& [name, value] : any.options) {
      if (name == "encoding") continue;
      const auto set = choice.options.find(name);
      const std::string expected = set == choice.options.end() ? defaults[name] : set->second;
      if (c[name] != expected) return false;
    }
  return true;
}

}  // namespace

Trials of_code(const Choices& defaults) {
  Trials trials{{{"task", {"even_pairs", "missing_duplicate_string", "reverse_string", "bucket_sort"}},
                 {"encoding", {"relative", "rope", "alibi"}},
                 {"positions", {"randomized"}}},
                {{{"encoding", {"alibi"}}, {"positions", {"sequential"}}}}};
  for (const Choice& c : choices(defaults)) {
    ValueLists lists = {{"encoding", {c.encoding}}, {"positions", {c.positions}}};
    for (const auto& [name, value] : c.options) lists[name] = {value};
    trials.also.push_back(std::move(lists));
  }
  return trials;
}

Section code(const Outcomes& outcomes, const Choices& defaults) {
  Section s;
  s.data = {{"encoding", "positions", "option", "value", "task", "seeds", "base", "other", "difference", "interval_low",
             "interval_high"},
            {}};
  Grid grid{
      "Accuracy on unseen lengths when one thing is done the other way: difference in points, then its interval "
      "and both means",
      {"encoding", "positions", "here", "the other way"},
      {}};
  for (const std::string& task : outcomes.tasks()) grid.head.push_back(task);
  const std::vector<Choice> all = choices(defaults);
  const Choice none;
  std::vector<std::string> matters;
  int compared = 0, intervals = 0;
  double largest = 0;
  for (const Choice& choice : all) {
    const auto done = [&](const Choices& c, const Choice& way) {
      const auto own = way.options.find("encoding");
      return c["encoding"] == (own == way.options.end() ? choice.encoding : own->second) &&
             c["positions"] == choice.positions && has(c, way, all, defaults);
    };
    if (!outcomes.plans([&](const Choices& c) { return done(c, choice); })) continue;
    std::vector<Cell> row = {{choice.encoding}, {choice.positions}, {choice.base}, {choice.other}};
    for (const std::string& task : outcomes.tasks()) {
      const Summary other =
          outcomes.summary([&](const Choices& c) { return c["task"] == task && done(c, choice); });
      const Summary base = outcomes.summary([&](const Choices& c) { return c["task"] == task && done(c, none); });
      const Paired difference = paired(other.by_seed, base.by_seed);
      row.push_back(difference_cell(difference.mean, difference.interval, "",
                                    fmt::format("{} → {}", points(base.mean), points(other.mean))));
      s.data.rows.push_back({choice.encoding, choice.positions, joined(choice, true), joined(choice, false), task,
                             difference.seeds, number(base.mean), number(other.mean), number(difference.mean),
                             number(difference.interval.low), number(difference.interval.high)});
      if (std::isnan(difference.mean)) continue;
      ++compared, intervals += !std::isnan(difference.interval.low);
      largest = std::max(largest, std::abs(difference.mean));
      if (difference.interval.excludes(0) && std::abs(difference.mean) >= 0.02)
        matters.push_back(fmt::format("{} {}, {} on {} ({} points)", choice.positions, choice.encoding, choice.other,
                                      task, signed_points(difference.mean)));
    }
    grid.rows.push_back(std::move(row));
  }
  if (!compared)
    s.readings.push_back("No comparison can be made of the runs that are done.");
  else if (!matters.empty())
    s.readings.push_back(
        fmt::format("Differences of 2 points or more whose interval excludes zero: {}.", fmt::join(matters, "; ")));
  else
    s.readings.push_back(
        fmt::format("No difference of 2 points or more has an interval that excludes zero{}; the largest is {} points.",
                    intervals ? "" : ", as one seed has no interval", points(largest)));
  s.grids = {grid};
  s.notes = {how_many(outcomes), about_intervals(outcomes), "Bold: the interval excludes zero."};
  for (const std::string& task : outcomes.tasks())
    if (const Cell cell = task_cell(outcomes, task); !cell.below.empty())
      s.notes.push_back(fmt::format("{}, without reading the order of the symbols: {}.", task, in_one(cell.below)));
  return s;
}

}  // namespace poslab::reproduce::ruoss2023
