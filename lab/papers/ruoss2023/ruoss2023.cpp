#include "lab/papers/ruoss2023/ruoss2023.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace poslab::reproduce::ruoss2023 {
namespace {

constexpr double seen = 0.02;  // a difference that the paper's own rounding and luck do not make

}  // namespace

const std::vector<Column>& columns() {
  static const std::vector<Column> list = {{"None", "none", "sequential", "none", 7},
                                           {"sin/cos", "sincos", "sequential", "sincos", 0},
                                           {"Relative", "relative", "sequential", "relative", 1},
                                           {"ALiBi", "alibi", "sequential", "alibi", 2},
                                           {"RoPE", "rope", "sequential", "rope", 3},
                                           {"Learned", "learned", "sequential", "learned", 4},
                                           {"R-sin/cos", "sincos", "randomized", "rand_sincos", 0},
                                           {"R-Relative", "relative", "randomized", "rand_relative", 1},
                                           {"R-ALiBi", "alibi", "randomized", "rand_alibi", 2},
                                           {"R-RoPE", "rope", "randomized", "rand_rope", 3},
                                           {"R-Learned", "learned", "randomized", "rand_learned", 4}};
  return list;
}

std::vector<Column> columns_of(const Outcomes& outcomes) {
  std::vector<Column> some;
  for (const Column& column : columns())
    if (outcomes.plans(
            [&](const Choices& c) { return c["encoding"] == column.encoding && c["positions"] == column.positions; }))
      some.push_back(column);
  return some;
}

std::vector<Line> of_columns(const std::vector<Column>& all) {
  return lines(all, [](const Column& c) { return Line{{c.name}, {c.encoding, c.positions}}; });
}

Which is(const std::string& task, const Column& column) {
  return [=](const Choices& c) {
    return c["task"] == task && c["encoding"] == column.encoding && c["positions"] == column.positions;
  };
}

Trials of_table1(const Choices&) {
  return {{{"task", fifteen()}, {"encoding", {"none"}}},
          {{{"encoding", {"sincos", "relative", "alibi", "rope", "learned"}},
            {"positions", {"sequential", "randomized"}}}}};
}

Grid comparison_grid(const std::vector<Comparison>& all, const std::string& caption) {
  Grid grid{caption, {"task"}, {}};
  for (const Comparison& c : all) {
    auto row = std::find_if(grid.rows.begin(), grid.rows.end(), [&](auto& r) { return r[0].text == c.task; });
    if (row == grid.rows.end()) row = grid.rows.insert(row, {{c.task}});
    if (row == grid.rows.begin()) grid.head.push_back(c.what);
    std::string before = c.note.empty() ? "" : c.note + "\n";
    if (!std::isnan(c.ours.mean) && !c.whole) before += "not all runs";
    row->push_back(difference_cell(c.ours.mean, c.ours.interval, before, signed_points(c.paper)));
  }
  return grid;
}

Comparison compare(const std::string& task, const std::string& what, double paper, const Summary& first,
                   const Summary& second) {
  return {task, what, paper, paired(first.by_seed, second.by_seed), first.whole() && second.whole()};
}

std::vector<std::string> verdicts(const std::vector<Comparison>& all, const std::string& winner,
                                  const std::string& loser) {
  if (all.empty()) return {};
  int claimed = 0, complete = 0, firm = 0, only = 0;
  std::vector<std::string> against;
  for (const Comparison& c : all) {
    if (!(c.paper >= seen)) continue;
    ++claimed;
    if (std::isnan(c.ours.mean) || !c.whole) continue;
    ++complete;
    if (c.ours.mean > 0 && c.ours.interval.low > 0)
      ++firm;
    else if (c.ours.mean > 0)
      ++only;
    else
      against.push_back(fmt::format("{}, {} ({} points; paper {})", c.task, c.what, signed_points(c.ours.mean),
                                    signed_points(c.paper)));
  }
  if (!claimed)
    return {fmt::format("In none of these comparisons does the paper have {} ahead of {} by 2 points or more.", winner,
                        loser)};
  if (!complete) return {fmt::format("No comparison of {} with {} is complete yet.", winner, loser)};
  std::vector<std::string> said = {
      fmt::format("Where the paper has {} ahead of {} by 2 points or more, {} of {} comparisons agree: {} with an "
                  "interval above zero, {} in the sign of the mean only.",
                  winner, loser, firm + only, complete, firm, only)};
  if (complete < claimed) said[0] += fmt::format(" Not complete yet: {} more.", claimed - complete);
  if (!against.empty()) said.push_back(fmt::format("Not so here: {}.", fmt::join(against, "; ")));
  return said;
}

}  // namespace poslab::reproduce::ruoss2023
