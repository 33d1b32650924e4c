// Tables that the program wrote and reads again: lines of cells below a header that is known.
#pragma once
#include <string>
#include <vector>

namespace poslab {

// Whether the whole cell is a number, which may be nan or inf.
bool read_cell(const std::string& cell, double& number);

std::string first_line(const std::string& path);  // without its end. Throws Failure: there is no such file
// The lines below the header, without their ends. Throws Failure: there is no such file, another header, no line, a
// last line without an end.
std::vector<std::string> read_lines_below(const std::string& path, const std::string& header);
[[noreturn]] void damaged_line(const std::string& path, size_t line, const std::string& text);   // throws Failure

}  // namespace poslab
