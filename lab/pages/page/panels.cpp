#include "lab/pages/page/panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace poslab::page {
namespace {

using nlohmann::json;

const std::string& title_of(const Panel& p) {
  if (const auto* m = std::get_if<HeatMap>(&p)) return m->name;
  return std::get<Chart>(p).title;
}

json figure_json(const Chart& c) { return chart_json(c); }

json figure_json(const HeatMap& m) {
  json rows = json::array();
  for (int i = 0; i < m.rows; ++i) {
    const auto row = m.cells.begin() + ptrdiff_t(i) * m.cols;
    rows.push_back(std::vector<double>(row, row + m.cols));  // NaN becomes null
  }
  return {{"kind", "matrix"},    {"title", m.name},       {"row", m.row},
          {"col", m.col},        {"block", m.block},      {"first_row", m.first_row},
          {"low", m.shades.low}, {"high", m.shades.high}, {"cells", rows}};
}

}  // namespace

std::string panels_json(const std::vector<Panel>& all) {
  json figures = json::array();
  for (const Panel& p : all) figures.push_back(std::visit([](const auto& one) { return figure_json(one); }, p));
  return json{{"figures", figures}}.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string panels_csv(const std::vector<Panel>& all) {
  std::string made = "panel,series,x,y,low,high\n";
  const auto quoted = [](std::string text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
    return '"' + text + '"';
  };
  const auto say = [](double v) { return std::isfinite(v) ? fmt::format("{:.9g}", v) : ""; };
  const auto add = [&](const std::string& panel, const std::string& series, const std::string& x, double y,
                       double low = std::nan(""), double high = std::nan("")) {
    if (std::isfinite(y))
      made += fmt::format("{},{},{},{},{},{}\n", quoted(panel), quoted(series), quoted(x), say(y), say(low), say(high));
  };
  for (const Panel& p : all) {
    const std::string& title = title_of(p);
    if (const auto* chart = std::get_if<Chart>(&p))
      for (const Curve& c : chart->curves)
        for (const Point at : c.points) {
          const auto band = std::find_if(c.band.begin(), c.band.end(), [&](const Band& b) { return b.x == at.x; });
          const bool has = band != c.band.end();
          add(title, c.name, say(at.x), at.y, has ? band->low : std::nan(""), has ? band->high : std::nan(""));
        }
    if (const auto* m = std::get_if<HeatMap>(&p))
      for (int i = 0; i < m->rows; ++i)
        for (int j = 0; j < m->cols; ++j)
          add(title, fmt::format("{} {}", m->row, i * m->block + m->first_row), fmt::format("{}", j * m->block),
              m->cells[size_t(i) * size_t(m->cols) + size_t(j)]);
  }
  return made;
}

}  // namespace poslab::page
