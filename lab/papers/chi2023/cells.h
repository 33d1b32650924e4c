// What the tables of the second source are made of: headings, cells, and the rows of their .csv.
#pragma once
#include <cmath>
#include <functional>
#include <optional>

#include "lab/papers/chi2023/chi2023.h"

namespace poslab::reproduce::chi2023 {

// Headings of columns; of lengths, that of the trained one says so.
void add_heads(Grid&, const std::vector<int>& numbers, std::optional<int> trained = {});

std::string figure_text(double x, int digits);  // digits: behind the point; "–" of NaN
// The mean over the seeds, below it its interval, and the source's number if there is one.
Cell figure_cell(const BySeed& ours, int digits, double source = std::nan(""));
// In %; of an aligned mode below it also how much more than of the original one, paired by seed, and bold where the
// interval of that excludes zero. of: what a mode has.
Cell accuracy_cell(Mode, const std::function<BySeed(Mode)>& of);
std::string added_words(const BySeed& more);  // "+1.2 points [0.3, 2.0], better"
// The source's numbers in one row of a table of it (lab/papers/paper.h).
std::vector<Cell> source_row(const std::string& label, const std::string& table, const std::string& row,
                             const std::vector<int>& columns, int digits);

// A .csv whose columns are these, and those of what add_data says of them.
Table data_of(std::vector<std::string> columns);
void add_data(Table&, std::vector<nlohmann::json> row, const BySeed& ours, double source = std::nan(""));

}  // namespace poslab::reproduce::chi2023
