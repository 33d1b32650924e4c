#include "lab/papers/chi2023/cells.h"

#include <fmt/format.h>

#include "lab/papers/paper.h"

namespace poslab::reproduce::chi2023 {

void add_heads(Grid& grid, const std::vector<int>& numbers, std::optional<int> trained) {
  for (const int n : numbers) grid.head.push_back(fmt::format("{}{}", n, n == trained ? " (trained)" : ""));
}

std::string figure_text(double x, int digits) { return std::isnan(x) ? "–" : fmt::format("{:.{}f}", x, digits); }

Cell figure_cell(const BySeed& ours, int digits, double source) {
  const Interval i = bootstrap(values(ours));
  std::string below = std::isnan(i.low) ? "" : fmt::format("[{:.{}f}, {:.{}f}]", i.low, digits, i.high, digits);
  if (!std::isnan(source)) below += fmt::format("{}source {:.2f}", below.empty() ? "" : "\n", source);
  return {figure_text(mean(ours), digits), below};
}

Cell accuracy_cell(Mode mode, const std::function<BySeed(Mode)>& of) {
  const BySeed ours = of(mode);
  if (mode == Mode::original) return {points(mean(ours)), interval_text(bootstrap(values(ours)), false)};
  const Paired more = paired(ours, of(Mode::original));
  if (!more.seeds) return {points(mean(ours))};
  return {points(mean(ours)), ahead_text(more.mean, more.interval), more.interval.excludes(0)};
}

std::string added_words(const BySeed& more) {
  const Interval i = bootstrap(values(more));
  return ahead_text(mean(more), i, " points") + (i.low > 0    ? ", better"
                                                 : i.high < 0 ? ", worse"
                                                              : ", which cannot be told from nothing");
}

std::vector<Cell> source_row(const std::string& label, const std::string& table, const std::string& row,
                             const std::vector<int>& columns, int digits) {
  std::vector<Cell> cells = {{label}};
  for (const int c : columns) cells.push_back({figure_text(paper_value(table, row, fmt::format("{}", c)), digits)});
  return cells;
}

Table data_of(std::vector<std::string> columns) {
  for (const char* c : {"seeds", "value", "interval_low", "interval_high", "source"}) columns.push_back(c);
  return {columns, {}};
}

void add_data(Table& data, std::vector<nlohmann::json> row, const BySeed& ours, double source) {
  const Interval i = bootstrap(values(ours));
  for (const nlohmann::json& x :
       {nlohmann::json(ours.size()), number(mean(ours)), number(i.low), number(i.high), number(source)})
    row.push_back(x);
  data.rows.push_back(std::move(row));
}

}  // namespace poslab::reproduce::chi2023
