// A pivot table: a row for each of these, a column for each of those, and in each cell one number beside what it is
// compared with. The same values make the table for people and the rows of the .csv, whose columns are those of the
// row, of the column, and of the value. What kinds of cells there are stands below.
#pragma once
#include <fmt/format.h>

#include <functional>

#include "lab/papers/artifact.h"

namespace poslab::reproduce {

struct Value {
  Cell cell;
  std::vector<nlohmann::json> data = {};  // in the .csv; none: no row there
  double rank = std::nan("");             // the highest of a row or column is bold, where that is asked for
};

// A row or a column: its name, and what stands for it in the .csv.
struct Line {
  Cell name;
  std::vector<nlohmann::json> data = {};
};
template <class Thing, class LineOf>
std::vector<Line> lines(const std::vector<Thing>& all, const LineOf& line) {
  std::vector<Line> made;
  for (const Thing& one : all) made.push_back(line(one));
  return made;
}
template <class Name>
std::vector<Line> lines(const std::vector<Name>& all) {  // names or numbers, which stand for themselves
  return lines(all, [](const Name& one) { return Line{{fmt::format("{}", one)}, {one}}; });
}

struct Pivot {
  std::string caption, corner;  // heading of the first column
  std::vector<Line> rows, columns;
  std::function<Value(size_t row, size_t column)> value;
  enum class Best { unmarked, of_row, of_column } best = Best::unmarked;
};
void add(Section&, const Pivot&);                                            // a grid more, and rows of its .csv
void add_data(Section&, const Line& row, const Line& column, const Value&);  // a row of its .csv alone

// -- cells of numbers that each seed has -----------------------------------------------------------------------------

// How a number is written: percent of a fraction, or as it is. The sources print percent.
struct Unit {
  double scale = 1;
  int digits = 2, interval_digits = digits, source_digits = 2;
};
constexpr Unit percent = {100, 1}, nats = {1, 4, 3, 4};
std::string number_text(double x, Unit);  // "–" of NaN

std::vector<nlohmann::json> by_seed_data(const BySeed&);  // how many, mean, and both ends of its interval
// These columns, and those of by_seed_data, whose second is called `value`.
Table by_seed_table(std::vector<std::string> columns, const std::string& value = "value", bool with_source = true);

// The mean over the seeds, below it its interval and, if there is one, the source's number as it is printed. That is
// the last of the data, a fraction where ours is.
Value with_source(const BySeed& ours, Unit, double source = std::nan(""));
// Accuracy in %, below it its interval; of what has a reference how far ahead of that it is, paired by seed, bold where
// the interval of the difference excludes zero.
Value accuracy(const BySeed& ours, const BySeed* reference = nullptr);
// Of a difference in points: "+3.1", below it `before`, its interval and `after`, a line each; bold likewise.
Cell difference_cell(double mean, const Interval&, const std::string& before = {}, const std::string& after = {});
Value in_points(const BySeed&);

}  // namespace poslab::reproduce
