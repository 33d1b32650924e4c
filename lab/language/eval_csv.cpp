// What a test came to, as a table: eval.csv, and the files that `poslab lm eval -o` writes.
#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "core/error.h"
#include "lab/files.h"
#include "lab/language/run.h"

namespace poslab::language {
namespace {

std::string header() {
  std::string text = "length,set,samples,loss,accuracy,bits_per_byte";
  for (const char* what : {"loss", "accuracy"})
    for (int p = 1; p <= parts; ++p) text += fmt::format(",{}_{}", what, p);
  return text;
}

// Whether the line could be read. A loss may be nan or inf, which strtod reads.
bool read_line(const std::string& line, AtLength& at) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  if (cells.size() != size_t(6 + 2 * parts) || (cells[1] != "plain" && cells[1] != "repeated")) return false;
  bool whole = true;
  const auto number = [&](size_t i) {
    char* end = nullptr;
    const double x = std::strtod(cells[i].c_str(), &end);
    whole = whole && end == cells[i].c_str() + cells[i].size() && !cells[i].empty();
    return x;
  };
  at = {.length = int(number(0)), .repeated = cells[1] == "repeated", .samples = int64_t(number(2))};
  at.loss = number(3), at.accuracy = number(4), at.bits_per_byte = number(5);
  for (size_t p = 0; p < size_t(parts); ++p)
    at.loss_of_part[p] = number(6 + p), at.accuracy_of_part[p] = number(6 + size_t(parts) + p);
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

std::vector<AtLength> read_csv(const std::string& path) {
  std::istringstream lines(read_file(path));
  std::string line;
  std::getline(lines, line);
  if (line != header()) failure("{} is damaged: its first line is not {}; remove it, and test again", path, header());
  std::vector<AtLength> all;
  for (int n = 2; std::getline(lines, line); ++n) {
    all.emplace_back();
    if (!read_line(line, all.back()))
      failure("{} is damaged: line {} reads \"{}\"; remove it, and test again", path, n, line);
  }
  if (all.empty()) failure("{} is damaged: it holds no length; remove it, and test again", path);
  return all;
}

}  // namespace poslab::language
