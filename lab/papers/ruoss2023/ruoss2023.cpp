// The trials of the artifacts.
#include "lab/papers/ruoss2023/ruoss2023.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lab/runs/values.h"

namespace poslab::reproduce::ruoss2023 {
namespace {

// One run of each kind, with the size's first seed and learning rate.
ValueLists one_run(const Choices& defaults, const std::string& task, const std::vector<std::string>& positions) {
  return {{"task", {task}},
          {"encoding", {"relative"}},
          {"positions", positions},
          {"seed", {fmt::format("{}", defaults.count("seed"))}},
          {"lr", {fmt::format("{}", defaults.number("lr"))}}};
}

// Settings in which the released code differs from the paper's text (spec 0 and A.2).
struct Choice {
  std::string encoding, positions;
  std::map<std::string, std::string> options;
  std::string base, other;  // in words
};

std::vector<Choice> all_choices(const Choices& defaults) {
  const std::string once = "positions drawn once a pass (paper)", layers = "in every layer (code)";
  // On in the released code, which has no switch for it; a size with it off is compared the other way round.
  const std::string flips = defaults.on("test_dropout") ? "off" : "on";
  return {
      {"relative",
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
      {"alibi", "sequential", {{"encoding", "alibi:symmetric"}}, "left and right differ by 0.5 (code)", "symmetric"},
      {"alibi", "randomized", {{"encoding", "alibi:symmetric"}}, "left and right differ by 0.5 (code)", "symmetric"}};
}

}  // namespace

Trials of_table1(const Choices&) {
  return {{{"task", fifteen()}, {"encoding", {"none"}}},
          {{{"encoding", schemes}, {"positions", {"sequential", "randomized"}}}}};
}

Trials of_table3(const Choices&) {
  return {{{"encoding", {"sincos"}}, {"positions", {"randomized", "randomized:unsorted"}}}};
}

Trials of_table5(const Choices&) {
  return {{{"encoding", schemes}, {"positions", {"randomized"}}},
          {{{"encoding", {"geometric"}}, {"positions", {"sequential"}}}}};
}

// The naive way: training up to the longest length of the test.
Trials of_fig2(const Choices& defaults) {
  ValueLists lists = one_run(defaults, "even_pairs", {"randomized"});
  lists["test_every"] = {fmt::format("{}", std::max<int64_t>(1, defaults.count("steps") / 20))};
  return {
      lists,
      {{{"positions", {"sequential"}}, {"train_length", {fmt::format("{}", defaults.lengths("eval_lengths").to)}}}}};
}

// Pools around the preset's, like 1024 to 8192 around the paper's 2048.
Trials of_fig3(const Choices& defaults) {
  std::vector<std::string> pools;
  for (const double factor : {0.5, 1., 2., 4.})
    pools.push_back(fmt::format("{}", int(factor * defaults.whole("max_position"))));
  return {{{"task", {"reverse_string", "missing_duplicate_string"}},
           {"encoding", {"relative"}},
           {"positions", {"randomized"}},
           {"max_position", pools}}};
}

Trials of_inside(const Choices& defaults) {
  return {one_run(defaults, "reverse_string", {"sequential", "randomized"})};
}

Trials of_code(const Choices& defaults) {
  Trials trials{{{"task", {"even_pairs", "missing_duplicate_string", "reverse_string", "bucket_sort"}},
                 {"encoding", {"relative", "rope", "alibi"}},
                 {"positions", {"randomized"}}},
                {{{"encoding", {"alibi"}}, {"positions", {"sequential"}}}}};
  for (const Choice& c : all_choices(defaults)) {
    ValueLists lists = {{"encoding", {c.encoding}}, {"positions", {c.positions}}};
    for (const auto& [name, value] : c.options) lists[name] = {value};
    trials.also.push_back(std::move(lists));
  }
  return trials;
}

// Table 1, geometric attention, positions out of order, and the smallest and the largest pool.
Trials of_claims(const Choices& defaults) {
  Trials trials = of_table1(defaults);
  trials.also.push_back({{"encoding", {"geometric"}}});
  trials.also.push_back({{"encoding", {"sincos"}}, {"positions", {"randomized:unsorted"}}});
  ValueLists pools = of_fig3(defaults).lists;
  pools["max_position"] = {pools["max_position"].front(), pools["max_position"].back()};
  trials.also.push_back(pools);
  return trials;
}

Json usual(const Outcomes&, const Choices& defaults, const std::string&) {
  return {{"max_position", defaults.whole("max_position")}};
}

// `usual`: all options that any of them sets besides its scheme's, with the size's values.
Json choices(const Outcomes&, const Choices& defaults, const std::string&) {
  Json all = Json::array(), base;
  for (const Choice& c : all_choices(defaults)) {
    Json options;
    for (const auto& [name, value] : c.options) {
      options[name] = typed(option(name), value);
      if (name != "encoding") base[name] = typed(option(name), defaults[name]);
    }
    all.push_back({{"encoding", c.encoding},
                   {"positions", c.positions},
                   {"options", options},
                   {"base", c.base},
                   {"other", c.other}});
  }
  return {{"choices", all}, {"usual", base}};
}

}  // namespace poslab::reproduce::ruoss2023
