// Tables that the program wrote and reads again: lines of cells below a known header.
#pragma once
#include <string>
#include <vector>

namespace poslab {

// Whether the whole cell is a number; nan and inf are numbers, too.
bool read_cell(const std::string& cell, double& number);

std::string first_line(const std::string& path);  // without its line end. Throws Failure for a missing file
// The lines below the header, without line ends. Throws Failure if the file is missing, if its header differs, if it
// has no line below the header, or if the last line is incomplete.
std::vector<std::string> read_lines_below(const std::string& path, const std::string& header);
[[noreturn]] void damaged_line(const std::string& path, size_t line, const std::string& text);   // throws Failure

}  // namespace poslab
