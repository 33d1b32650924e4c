#include "lab/pages/page/grid.h"

#include <fmt/format.h>

#include <cmath>

#include "lab/pages/page/html.h"

namespace poslab::page {

namespace {

std::string joined(std::string lines, const std::string& by) {
  if (lines.ends_with('\n')) lines.pop_back();
  for (size_t end; (end = lines.find('\n')) != std::string::npos;) lines.replace(end, 1, by);
  return lines;
}

}  // namespace

std::string points(double fraction) { return std::isnan(fraction) ? "–" : fmt::format("{:.1f}", 100 * fraction); }

std::string signed_points(double fraction) {
  if (std::isnan(fraction)) return "–";
  const std::string text = fmt::format("{:+.1f}", 100 * fraction);
  return text == "-0.0" || text == "+0.0" ? "0.0" : text;
}

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

std::string html(const Grid& grid) {
  std::string head, rows;
  for (const std::string& name : grid.head)
    head += fmt::format("<th scope=\"col\"{}>{}</th>", head.empty() ? " class=\"text\"" : "", escape(name));
  for (const auto& row : grid.rows) {
    std::string cells;
    for (const Cell& c : row) {
      const std::string below =
          c.below.empty() ? "" : fmt::format("<small>{}</small>", joined(escape(c.below), "<br>"));
      cells += cells.empty()
                   ? fmt::format("<th scope=\"row\">{}{}</th>", escape(c.text), below)
                   : fmt::format("<td{}>{}{}</td>", c.strong ? " class=\"score\"" : "", escape(c.text), below);
    }
    rows += fmt::format("<tr>{}</tr>\n", cells);
  }
  return fmt::format(
      "<p class=\"caption\">{0}</p><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table "
      "class=\"figures\"><thead><tr>{1}</tr></thead><tbody>\n{2}</tbody></table></div>\n",
      escape(grid.caption), head, rows);
}

}  // namespace poslab::page
