#include "lab/papers/pivot.h"

#include "lab/papers/wording.h"

namespace poslab::reproduce {

namespace {

void mark_best(Grid& grid, const std::vector<std::vector<double>>& ranks, Pivot::Best best) {
  const bool of_row = best == Pivot::Best::of_row;
  const size_t rows = ranks.size(), columns = rows ? ranks[0].size() : 0;
  for (size_t outer = 0; outer < (of_row ? rows : columns); ++outer) {
    const auto at = [&](size_t n) { return of_row ? std::pair(outer, n) : std::pair(n, outer); };
    std::pair<size_t, size_t> highest = at(0);
    const auto rank = [&](std::pair<size_t, size_t> p) { return ranks[p.first][p.second]; };
    for (size_t n = 1; n < (of_row ? columns : rows); ++n)
      if (!(rank(at(n)) <= rank(highest)) && !std::isnan(rank(at(n)))) highest = at(n);
    if (!std::isnan(rank(highest))) grid.rows[highest.first][highest.second + 1].strong = true;
  }
}

void add_line(std::string& lines, const std::string& line) {
  if (!line.empty()) lines += (lines.empty() || lines.ends_with('\n') ? "" : "\n") + line;
}

}  // namespace

void add(Section& section, const Pivot& p) {
  Grid grid{p.caption, {p.corner}, {}};
  for (const Line& column : p.columns) grid.head.push_back(column.name.text);
  std::vector<std::vector<double>> ranks;
  for (size_t r = 0; r < p.rows.size(); ++r) {
    std::vector<Cell> row = {p.rows[r].name};
    ranks.emplace_back();
    for (size_t c = 0; c < p.columns.size(); ++c) {
      Value v = p.value(r, c);
      add_data(section, p.rows[r], p.columns[c], v);
      row.push_back(std::move(v.cell)), ranks.back().push_back(v.rank);
    }
    grid.rows.push_back(std::move(row));
  }
  if (p.best != Pivot::Best::unmarked) mark_best(grid, ranks, p.best);
  section.grids.push_back(std::move(grid));
}

void add_data(Section& section, const Line& row, const Line& column, const Value& v) {
  if (v.data.empty()) return;
  std::vector<nlohmann::json>& data = section.data.rows.emplace_back(row.data);
  for (const auto* more : {&column.data, &v.data}) data.insert(data.end(), more->begin(), more->end());
  data.resize(section.data.columns.size());
}

std::string number_text(double x, Unit u) {
  return std::isnan(x) ? "–" : fmt::format("{:.{}f}", u.scale * x, u.digits);
}

std::vector<nlohmann::json> by_seed_data(const BySeed& ours) {
  const Interval i = bootstrap(values(ours));
  return {ours.size(), number(mean(ours)), number(i.low), number(i.high)};
}

Table by_seed_table(std::vector<std::string> columns, const std::string& value, bool with_source) {
  for (const std::string& c : {std::string("seeds"), value, std::string("interval_low"), std::string("interval_high")})
    columns.push_back(c);
  if (with_source) columns.push_back("source");
  return {columns, {}};
}

Value with_source(const BySeed& ours, Unit u, double source) {
  const Interval i = bootstrap(values(ours));
  const Unit ends{u.scale, u.interval_digits};
  std::string below =
      std::isnan(i.low) ? "" : fmt::format("[{}, {}]", number_text(i.low, ends), number_text(i.high, ends));
  if (!std::isnan(source)) add_line(below, fmt::format("source {:.{}f}", source, u.source_digits));
  Value v{{number_text(mean(ours), u), below}, by_seed_data(ours), mean(ours)};
  v.data.push_back(number(source / u.scale));
  return v;
}

Value accuracy(const BySeed& ours, const BySeed* reference) {
  Value v{{points(mean(ours))}, by_seed_data(ours), mean(ours)};
  if (!reference) {
    v.cell.below = interval_text(bootstrap(values(ours)), false);
  } else if (const Paired more = paired(ours, *reference); more.seeds) {
    v.cell.below = ahead_text(more.mean, more.interval), v.cell.strong = more.interval.excludes(0);
  }
  return v;
}

Cell difference_cell(double mean, const Interval& i, const std::string& before, const std::string& after) {
  std::string below = before;
  add_line(below, interval_text(i, true)), add_line(below, after);
  return {signed_points(mean), below, i.excludes(0)};
}

Value in_points(const BySeed& d) { return {difference_cell(mean(d), bootstrap(values(d))), by_seed_data(d)}; }

}  // namespace poslab::reproduce
