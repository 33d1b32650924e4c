// The results of a test: a table with named columns. eval.csv is this table (lab/runs/results_csv.h), and readers of
// tests of any kind access it by the names of columns.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace poslab {

struct Column {
  enum class Type { word, whole, number };
  std::string name;
  Type type = Type::number;
  bool key = false;                              // identifies a row, together with the other keys
  bool fraction = false;                         // 0 .. 1
  const char* format = "{}";                     // of a number: "{:.6f}", or the shortest text that reads back the same

  static Column word(std::string name) { return {std::move(name), Type::word, true}; }
  static Column length() { return {"length", Type::whole, true}; }             // length of the input, at least 1
  static Column count(std::string name) { return {std::move(name), Type::whole}; }   // at least 1
  static Column number(std::string name, const char* format = "{}") {
    return {std::move(name), Type::number, false, false, format};
  }
  static Column share(std::string name) { return {std::move(name), Type::number, false, true, "{:.6f}"}; }
};
using Columns = std::shared_ptr<const std::vector<Column>>;
Columns columns(std::vector<Column>);

class Row {
 public:
  struct Cell {                                  // by the type of its column
    Cell(double x = 0) : number(x) {}
    Cell(std::string text) : word(std::move(text)) {}
    Cell(const char* text) : word(text) {}
    bool operator==(const Cell&) const = default;
    double number = 0;
    std::string word{};
  };
  Row(Columns, std::vector<Cell>);               // a cell for each column
  double operator[](std::string_view column) const;            // throws Failure for a column of words, or a missing one
  // throws Failure for a column of numbers, or a missing one
  const std::string& word(std::string_view column) const;
  int length() const { return int((*this)["length"]); }
  void set(std::string_view column, double);
  bool has(std::string_view column) const;
  std::string text(size_t column) const;         // as in eval.csv
  const std::vector<Column>& columns() const { return *columns_; }
  const std::vector<Cell>& cells() const { return cells_; }
  bool same_key(const Row&) const;

 private:
  size_t place(std::string_view column) const;
  Columns columns_;
  std::vector<Cell> cells_;
};
using Results = std::vector<Row>;                // rows with equal columns

// The rows with this word in this column, such as plain texts or one task.
Results only(const Results&, std::string_view column, const std::string& word);
// For each row that all tables have, by its keys, the means of the numbers and the smallest count.
Results mean_of(const std::vector<const Results*>&);

}  // namespace poslab
