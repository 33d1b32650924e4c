#include "lab/pages/page/grid.h"

#include <fmt/format.h>

namespace poslab::page {

std::string markdown(const Grid& grid) {
  std::string text, rule;
  for (const std::string& name : grid.head) text += fmt::format("| {} ", name), rule += "|---";
  text += "|\n" + rule + "|\n";
  for (const auto& row : grid.rows) {
    for (const std::string& cell : row) text += fmt::format("| {} ", cell);
    text += "|\n";
  }
  return text;
}

json table_json(const Grid& grid) {
  json columns = json::array();
  for (const std::string& name : grid.head) columns.push_back(column(name.c_str()));
  json made = table(grid.caption, columns, grid.rows);
  made["caption"] = grid.caption, made["style"] = "figures";
  return made;
}

}  // namespace poslab::page
