#include "lab/files/csv.h"

#include <sstream>

#include "core/ascii.h"
#include "core/error.h"
#include "lab/files/files.h"

namespace poslab {

bool read_cell(const std::string& cell, double& number) {
  char* end = nullptr;
  number = ascii::number(cell.c_str(), &end);
  return !cell.empty() && *end == '\0';
}

std::string first_line(const std::string& path) {
  const std::string text = read_file(path);
  return text.substr(0, text.find('\n'));
}

std::vector<std::string> read_lines_below(const std::string& path, const std::string& header) {
  const std::string text = read_file(path);
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  if (line != header)
    failure("{} is damaged: its first line is not {}; remove it, and test again", path, header);
  std::vector<std::string> all;
  while (std::getline(in, line)) all.push_back(line);
  if (all.empty()) failure("{} is damaged: it has no line below the header; remove it, and test again", path);
  if (!text.ends_with('\n'))
    failure("{} is cut off: line {} reads \"{}\" and has no line end; remove it, and test again", path, all.size() + 1,
            all.back());
  return all;
}

void damaged_line(const std::string& path, size_t line, const std::string& text) {
  failure("{} is damaged: line {} reads \"{}\"; remove it, and test again", path, line, text);
}

}  // namespace poslab
