#include "lab/pages/page/grid.h"

#include <fmt/format.h>

namespace poslab::page {

namespace {

std::string joined(std::string lines, const std::string& by) {
  if (lines.ends_with('\n')) lines.pop_back();
  for (size_t end; (end = lines.find('\n')) != std::string::npos;) lines.replace(end, 1, by);
  return lines;
}

}  // namespace

std::string in_one(const std::string& lines) { return joined(lines, ", "); }

std::string markdown(const Grid& grid) {
  std::string text, rule;
  for (const std::string& name : grid.head) text += fmt::format("| {} ", name), rule += "|---";
  text += "|\n" + rule + "|\n";
  for (const auto& row : grid.rows) {
    for (const Cell& c : row)
      text += fmt::format("| {}{} ", c.strong ? fmt::format("**{}**", c.text) : c.text,
                          c.below.empty() ? "" : fmt::format(" ({})", in_one(c.below)));
    text += "|\n";
  }
  return text;
}

json table_json(const Grid& grid) {
  json columns = json::array(), rows = json::array();
  for (const std::string& name : grid.head) columns.push_back(column(name.c_str()));
  for (const auto& row : grid.rows) {
    json cells = json::array();
    for (const Cell& c : row) {
      if (c.below.empty() && !c.strong)
        cells.push_back(c.text);
      else
        cells.push_back({{"text", c.text}, {"below", joined(c.below, "\n")}, {"strong", c.strong}});
    }
    rows.push_back(std::move(cells));
  }
  json made = table(grid.caption, columns, rows);
  made["caption"] = grid.caption, made["style"] = "figures";
  return made;
}

}  // namespace poslab::page
