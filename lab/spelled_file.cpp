#include "lab/positions_file.h"

#include <sstream>

#include "core/error.h"
#include "encodings/positions.h"
#include "lab/files.h"

namespace poslab {
namespace {

constexpr size_t most = 100000;  // a checkpoint's configuration holds them all

std::string numbers_in(const std::string& path) {
  std::istringstream lines(read_input(path));
  std::string all, line;
  size_t count = 0;
  for (int n = 1; std::getline(lines, line); ++n) {
    for (char& c : line)
      if (c == '\t' || c == '\r') c = ' ';
    try {
      for (const double p : numbers_of(line)) all += fmt::format("{}{}", count++ ? " " : "", p);
    } catch (const BadInput& e) {
      bad_input("{}, line {}: {}; a file of positions has one number for each slot", path, n, e.what());
    }
  }
  if (count == 0 || count > most)
    bad_input("{}: {} positions; a file of positions has one for each slot, at most {}", path, count, most);
  return all;
}

}  // namespace

std::string with_positions_file(const std::string& option, const std::string& value) {
  const size_t at = value.find("=@");
  if ((option != "positions" && option != "test_positions") || at == std::string::npos) return value;
  const size_t end = std::min(value.find_first_of(",|", at), value.size());
  return value.substr(0, at + 1) + numbers_in(value.substr(at + 2, end - at - 2)) + value.substr(end);
}

}  // namespace poslab
