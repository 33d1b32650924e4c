// What a test came to, as a table: eval.csv, and the files that `poslab lm eval -o` writes.
#include <fmt/format.h>

#include "lab/files/csv.h"
#include "lab/runs/language/run.h"

namespace poslab::language {
namespace {

std::string header() {
  std::string text = "length,set,samples,loss,accuracy,bits_per_byte";
  for (const char* what : {"loss", "accuracy"})
    for (int p = 1; p <= parts; ++p) text += fmt::format(",{}_{}", what, p);
  return text;
}

bool read_cells(const std::vector<std::string>& cells, AtLength& at) {
  if (cells.size() != size_t(6 + 2 * parts) || (cells[1] != "plain" && cells[1] != "repeated")) return false;
  double length = 0, samples = 0;
  bool whole = read_cell(cells[0], length) && read_cell(cells[2], samples) && read_cell(cells[3], at.loss) &&
               read_cell(cells[4], at.accuracy) && read_cell(cells[5], at.bits_per_byte);
  for (size_t p = 0; p < size_t(parts); ++p)
    whole = whole && read_cell(cells[6 + p], at.loss_of_part[p]) &&
            read_cell(cells[6 + size_t(parts) + p], at.accuracy_of_part[p]);
  at.length = int(length), at.repeated = cells[1] == "repeated", at.samples = int64_t(samples);
  return whole && at.length > 0 && at.samples > 0;
}

}  // namespace

std::string to_csv(const std::vector<AtLength>& all) {
  std::string text = header() + "\n";
  for (const AtLength& at : all) {
    text += fmt::format("{},{},{},{},{},{}", at.length, at.repeated ? "repeated" : "plain", at.samples, at.loss,
                        at.accuracy, at.bits_per_byte);
    for (const double x : at.loss_of_part) text += fmt::format(",{}", x);
    for (const double x : at.accuracy_of_part) text += fmt::format(",{}", x);
    text += "\n";
  }
  return text;
}

std::vector<AtLength> read_csv(const std::string& path) { return read_rows(path, header(), read_cells); }

}  // namespace poslab::language
