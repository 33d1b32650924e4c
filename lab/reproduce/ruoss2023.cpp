#include "lab/reproduce/ruoss2023.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

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
            [&](const Config& c) { return c.encoding == column.encoding && c.positions == column.positions; }))
      some.push_back(column);
  return some;
}

Which is(const std::string& task, const Column& column) {
  return [=](const Config& c) {
    return c.task == task && c.encoding == column.encoding && c.positions == column.positions;
  };
}

Trials of_table1(const Config&) {
  return {{{"encoding", {"none"}}},
          {{{"encoding", {"sincos", "relative", "alibi", "rope", "learned"}},
            {"positions", {"sequential", "randomized"}}}}};
}

std::string interval_text(const Interval& i, bool sign) {
  if (std::isnan(i.low)) return "";
  const auto text = [&](double x) { return sign ? signed_points(x) : points(x); };
  return fmt::format("[{}, {}]", text(i.low), text(i.high));
}

Grid comparison_grid(const std::vector<Comparison>& all, const std::string& caption) {
  Grid grid{caption, {"task"}, {}};
  for (const Comparison& c : all) {
    auto row = std::find_if(grid.rows.begin(), grid.rows.end(), [&](auto& r) { return r[0].text == c.task; });
    if (row == grid.rows.end()) row = grid.rows.insert(row, {{c.task}});
    if (row == grid.rows.begin()) grid.head.push_back(c.what);
    const std::string interval = interval_text(c.ours.interval, true);
    std::string below = c.note.empty() ? "" : c.note + "\n";
    if (!std::isnan(c.ours.mean) && !c.whole) below += "not all runs\n";
    row->push_back({signed_points(c.ours.mean),
                    fmt::format("{}{}{}{}", below, interval, interval.empty() ? "" : "\n", signed_points(c.paper)),
                    c.ours.interval.excludes(0)});
  }
  return grid;
}

std::string partly(const Summary& s) {
  return s.whole() || !s.runs ? "" : fmt::format("{} of {} runs\n", s.runs, s.planned);
}

Comparison compare(const std::string& task, const std::string& what, double paper, const Summary& first,
                   const Summary& second) {
  return {task, what, paper, paired(first.by_seed, second.by_seed), first.whole() && second.whole()};
}

std::vector<nlohmann::json> baseline_cells(const Summary& s) {
  const std::optional<Baselines> b = s.at_lr.empty() ? std::nullopt : s.at_lr[0]->record.baselines;
  if (!b) return {nullptr, nullptr, nullptr};
  return {b->chance, b->majority, b->content_only};
}

nlohmann::json number(double x) { return std::isnan(x) ? nlohmann::json() : nlohmann::json(x); }

Cell task_cell(const Outcomes& outcomes, const std::string& task) {
  for (const Outcome& o : outcomes.done())
    if (o.trial->config.task == task && o.record.baselines) {
      const Baselines& b = *o.record.baselines;
      return {task, fmt::format("guess {}\nmajority {}\ncontent only {}", points(b.chance), points(b.majority),
                                points(b.content_only))};
    }
  return {task};
}

std::string about_intervals(const Outcomes& outcomes) {
  std::set<int64_t> seeds;
  for (const Outcome& o : outcomes.done()) seeds.insert(o.trial->config.seed);
  return poslab::about_intervals(int(seeds.size()));
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

std::string how_many(const Outcomes& outcomes) {
  if (outcomes.done().empty()) return "No run is done yet.";
  std::set<int64_t> seeds;
  std::set<double> rates;
  std::set<std::string> tested;
  for (const Outcome& o : outcomes.done()) {
    const Config& c = o.trial->config;
    seeds.insert(c.seed), rates.insert(c.lr);
    tested.insert(fmt::format(
        "{} steps of {} strings to length {}, tested to length {} with {} strings of each, dropout at test {}", c.steps,
        c.batch, c.train_length, c.eval_lengths.to, c.eval_samples, c.test_dropout ? "on" : "off"));
  }
  return fmt::format("{} seed{}, learning rate{} {}; {}.", seeds.size(), seeds.size() == 1 ? "" : "s",
                     rates.size() == 1 ? "" : "s", fmt::join(rates, ", "), fmt::join(tested, "; "));
}

}  // namespace poslab::reproduce::ruoss2023
