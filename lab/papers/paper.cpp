#include "lab/papers/paper.h"

#include <cmath>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/ascii.h"

namespace poslab {
extern const std::string_view chi2023_dispersion_csv, chi2023_temperatures_csv, chi2023_documents_csv;
}

namespace poslab::reproduce {
namespace {

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) all.push_back(cell);
  return all;
}

using Numbers = std::map<std::pair<std::string, std::string>, double>;  // (row, column)

Numbers read(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> head = cells(line);
  Numbers numbers;
  while (std::getline(lines, line)) {
    const std::vector<std::string> row = cells(line);
    for (size_t i = 1; i < row.size(); ++i)
      if (head[i] != "level" && row[i] != "-") numbers[{row[0], head[i]}] = ascii::number(row[i]);
  }
  return numbers;
}

}  // namespace

double paper_value(const std::string& table, const std::string& row, const std::string& column) {
  static const std::map<std::string, Numbers> tables = {
      {"chi2023_dispersion", read(chi2023_dispersion_csv)},
      {"chi2023_temperatures", read(chi2023_temperatures_csv)}, {"chi2023_documents", read(chi2023_documents_csv)}};
  const Numbers& numbers = tables.at(table);
  const auto found = numbers.find({row, column});
  return found == numbers.end() ? std::nan("") : found->second;
}

}  // namespace poslab::reproduce
