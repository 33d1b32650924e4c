// Tables that the program wrote and reads again: lines of cells below a header that is known.
#pragma once
#include <string>
#include <vector>

#include "core/choices.h"

namespace poslab {

// Whether the whole cell is a number, which may be nan or inf.
bool read_cell(const std::string& cell, double& number);

// The lines below the header, without their ends. Throws Failure: there is no such file, another header, no line.
std::vector<std::string> read_lines_below(const std::string& path, const std::string& header);
[[noreturn]] void damaged_line(const std::string& path, size_t line, const std::string& text);   // throws Failure

// The rows that `read` makes of the cells of each line; it says whether it could.
template <class Row>
std::vector<Row> read_rows(const std::string& path, const std::string& header,
                           bool (*read)(const std::vector<std::string>& cells, Row&)) {
  std::vector<Row> all;
  for (const std::string& line : read_lines_below(path, header)) {
    all.emplace_back();
    if (!read(split(line, ','), all.back())) damaged_line(path, all.size() + 1, line);
  }
  return all;
}

}  // namespace poslab
