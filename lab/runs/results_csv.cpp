#include "lab/runs/results_csv.h"

#include <cmath>
#include <filesystem>

#include "lab/files/csv.h"
#include "lab/files/shell.h"
#include "lab/runs/other_test.h"

namespace poslab {
namespace {

std::string header_of(const std::vector<Column>& columns) {
  std::string text;
  for (const Column& c : columns) text += (text.empty() ? "" : ",") + c.name;
  return text;
}

// Whether the text is a value of the column. A number may be nan or inf.
bool read_as(const Column& c, const std::string& text, Row::Cell& cell) {
  if (c.type == Column::Type::word) return cell = text, !text.empty();
  double x;
  if (!read_cell(text, x)) return false;
  cell = x;
  if (c.type == Column::Type::whole) return x >= 1 && x == std::floor(x) && x < 1e15;
  return !c.fraction || (x >= 0 && x <= 1);
}

}  // namespace

std::string header_of(const Kind& kind) { return header_of(*kind.columns); }

std::string to_csv(const Results& all) {
  std::string text = header_of(all.front().columns()) + "\n";
  for (const Row& row : all)
    for (size_t n = 0; n < row.cells().size(); ++n)
      text += row.text(n) + (n + 1 < row.cells().size() ? "," : "\n");
  return text;
}

Results read_results(const std::string& path, const Kind& kind) {
  if (const std::filesystem::path at(path); !std::filesystem::exists(at))
    bad_input("{} has no {}; make it with `poslab {} {}`", at.parent_path().string(), at.filename().string(),
              kind.command("eval"), shell_path(at.parent_path()));
  Results all;
  for (const std::string& line : read_lines_below(path, header_of(kind))) {
    const std::vector<std::string> texts = split(line, ',');
    std::vector<Row::Cell> cells(texts.size());
    bool whole = texts.size() == kind.columns->size();
    for (size_t n = 0; whole && n < texts.size(); ++n) whole = read_as((*kind.columns)[n], texts[n], cells[n]);
    if (!whole) damaged_line(path, all.size() + 2, line);
    Row row(kind.columns, std::move(cells));
    for (const Row& before : all)
      if (before.same_key(row)) damaged_line(path, all.size() + 2, line);
    all.push_back(std::move(row));
  }
  return all;
}

Results read_test(const std::string& folder, const std::string& name) {
  return read_results(folder + "/" + csv_of_test(name), kind_of_folder(folder));
}

}  // namespace poslab
