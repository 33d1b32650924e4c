// The sources' own numbers, from lab/reproduce/paper/*.csv, which travel inside the program. Leaves out what the
// sources print only as a picture.
#pragma once
#include <string>

namespace poslab::reproduce {

// Percent, as printed. NaN where the table has no such row or column.
double paper_value(const std::string& table, const std::string& task, const std::string& column);

}  // namespace poslab::reproduce
