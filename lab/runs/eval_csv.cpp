#include "lab/runs/eval_csv.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/shell.h"

namespace poslab {
namespace {

const std::string header = "length,accuracy,unmasked_accuracy,loss,samples,guess,majority,content_only";

bool fraction(double p) { return p >= 0 && p <= 1; }

// Whether the line could be read. A loss may be nan or inf, which %lf reads.
bool read_line(const std::string& line, AtLength& a) {
  int end = 0;
  Baselines& b = a.baselines;
  const int fields =
      std::sscanf(line.c_str(), "%d,%lf,%lf,%lf,%d,%lf,%lf,%lf%n", &a.length, &a.accuracy, &a.unmasked_accuracy,
                  &a.loss, &a.samples, &b.chance, &b.majority, &b.content_only, &end);
  return fields == 8 && size_t(end) == line.size() && a.samples > 0 && fraction(a.accuracy) && fraction(b.chance) &&
         fraction(b.majority) && fraction(b.content_only);
}

}  // namespace

std::string to_csv(const std::vector<AtLength>& all) {
  std::string text = header + "\n";
  for (const AtLength& a : all)
    text += fmt::format("{},{:.6f},{:.6f},{:.6g},{},{:.6f},{:.6f},{:.6f}\n", a.length, a.accuracy, a.unmasked_accuracy,
                        a.loss, a.samples, a.baselines.chance, a.baselines.majority, a.baselines.content_only);
  return text;
}

std::vector<AtLength> read_eval_csv(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name,
                    remedy = fmt::format("make it with `poslab eval {}`", shell_word(folder));
  if (!std::filesystem::exists(path)) bad_input("{} has no {}; {}", folder, name, remedy);
  std::istringstream lines(read_file(path));
  std::string line;
  std::getline(lines, line);
  if (line != header) failure("{} is damaged: its first line is not {}; {}", path, header, remedy);
  std::vector<AtLength> all;
  for (int n = 2; std::getline(lines, line); ++n) {
    AtLength a{};
    if (!read_line(line, a) || a.length <= (all.empty() ? 0 : all.back().length))
      failure("{} is damaged: line {} reads \"{}\"; {}", path, n, line, remedy);
    all.push_back(a);
  }
  if (all.empty()) failure("{} is damaged: it holds no length; {}", path, remedy);
  return all;
}

}  // namespace poslab
