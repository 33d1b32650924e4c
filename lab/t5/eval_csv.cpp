// What a test came to, as a table: eval.csv, and the files that `poslab t5 eval -o` writes.
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "core/error.h"
#include "lab/files.h"
#include "lab/t5/run.h"

namespace poslab::t5 {
namespace {

std::string header() { return "task,length,samples,loss,accuracy" + headings_of_places(); }

// Whether the line could be read. A loss may be nan or inf, which strtod reads.
bool read_line(const std::string& line, AtLength& at) {
  const std::vector<std::string> cells = split(line, ',');
  if (cells.size() != size_t(5 + places) || cells[0].empty()) return false;
  bool whole = true;
  const auto number = [&](size_t i) {
    char* end = nullptr;
    const double x = std::strtod(cells[i].c_str(), &end);
    whole = whole && !cells[i].empty() && *end == '\0';
    return x;
  };
  at = {.task = cells[0], .length = int(number(1)), .samples = int64_t(number(2))};
  at.loss = number(3), at.accuracy = number(4);
  for (int p = 0; p < places; ++p) at.accuracy_of_place[p] = number(size_t(5 + p));
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

std::string table(const std::vector<AtLength>& all) {
  std::string text = "  task         length   accuracy     loss     by place of the answer, from beginning to end\n";
  for (const AtLength& at : all)
    text += fmt::format("  {:<10} {:8} {:8.1f} % {:8.4f}    {}\n", at.task, at.length, 100 * at.accuracy, at.loss,
                        shown_places(at.accuracy_of_place));
  return text;
}

}  // namespace poslab::t5
