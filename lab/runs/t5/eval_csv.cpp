// What a test came to, as a table: eval.csv, and the files that `poslab t5 eval -o` writes.
#include <fmt/format.h>

#include <cmath>

#include "lab/files/csv.h"
#include "lab/runs/t5/run.h"

namespace poslab::t5 {
namespace {

std::string header() { return "task,length,samples,loss,accuracy" + headings_of_places(); }

bool read_cells(const std::vector<std::string>& cells, AtLength& at) {
  if (cells.size() != size_t(5 + places) || cells[0].empty()) return false;
  double length = 0, samples = 0;
  bool whole = read_cell(cells[1], length) && read_cell(cells[2], samples) && read_cell(cells[3], at.loss) &&
               read_cell(cells[4], at.accuracy);
  for (int p = 0; p < places; ++p) whole = whole && read_cell(cells[size_t(5 + p)], at.accuracy_of_place[p]);
  at.task = cells[0], at.length = int(length), at.samples = int64_t(samples);
  return whole && at.length > 0 && at.samples > 0;
}

}  // namespace

std::string headings_of_places() {
  std::string text;
  for (int p = 1; p <= places; ++p) text += fmt::format(",accuracy_{}", p);
  return text;
}

std::string cells_of_places(const double (&accuracy)[places]) {
  std::string text;
  for (const double x : accuracy) text += fmt::format(",{}", x);
  return text;
}

std::string shown_places(const double (&accuracy)[places]) {
  std::string text;
  for (const double x : accuracy) text += std::isnan(x) ? std::string("    -") : fmt::format(" {:4.0f}", 100 * x);
  return text;
}

std::string to_csv(const std::vector<AtLength>& all) {
  std::string text = header() + "\n";
  for (const AtLength& at : all)
    text += fmt::format("{},{},{},{},{}{}\n", at.task, at.length, at.samples, at.loss, at.accuracy,
                        cells_of_places(at.accuracy_of_place));
  return text;
}

std::vector<AtLength> read_csv(const std::string& path) { return read_rows(path, header(), read_cells); }

std::string table(const std::vector<AtLength>& all) {
  std::string text = "  task         length   accuracy     loss     by place of the answer, from beginning to end\n";
  for (const AtLength& at : all)
    text += fmt::format("  {:<10} {:8} {:8.1f} % {:8.4f}    {}\n", at.task, at.length, 100 * at.accuracy, at.loss,
                        shown_places(at.accuracy_of_place));
  return text;
}

}  // namespace poslab::t5
