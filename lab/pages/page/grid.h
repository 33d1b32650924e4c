// A table for people, as Markdown for terminals and as a part of a page, with the same words in both.
#pragma once
#include <string>
#include <vector>

#include "lab/pages/page/document.h"

namespace poslab::page {

struct Grid {
  std::string caption;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  // the first cell of a row names it
};

std::string markdown(const Grid&);
json table_json(const Grid&);

}  // namespace poslab::page
