// A table for people, once as Markdown and once as HTML, with the same words in both.
#pragma once
#include <string>
#include <vector>

namespace poslab::page {

struct Cell {
  std::string text, below = {};  // the figure, and the smaller lines below it
  bool strong = false;
};
struct Grid {
  std::string caption;
  std::vector<std::string> head;
  std::vector<std::vector<Cell>> rows;  // the first of a row names it
};

std::string in_one(const std::string& lines);  // "81.5, -26.2"
std::string markdown(const Grid&);
std::string html(const Grid&);

std::string points(double fraction);         // 0.937 -> "93.7"; "–" of NaN
std::string signed_points(double fraction);  // 0.063 -> "+6.3"

}  // namespace poslab::page
