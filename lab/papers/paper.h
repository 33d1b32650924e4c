// The sources' own numbers that C++ prints, from lab/papers/published/*.csv, which travel inside the program. Leaves
// out figures without numbers.
#pragma once
#include <string>

namespace poslab::reproduce {

// As printed: percent, or nats. A row is a task or a method. NaN where the table has no such row or column.
double paper_value(const std::string& table, const std::string& row, const std::string& column);

}  // namespace poslab::reproduce
