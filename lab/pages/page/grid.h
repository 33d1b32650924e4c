// A table for people, as Markdown for terminals and as a part of a page, with the same words in both.
#pragma once
#include <string>
#include <vector>

#include "lab/pages/page/document.h"

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
json table_json(const Grid&);

}  // namespace poslab::page
