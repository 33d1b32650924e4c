#include "lab/runs/spelled_file.h"

#include <filesystem>
#include <sstream>

#include "core/error.h"
#include "encodings/calibrated.h"
#include "encodings/sampler.h"
#include "lab/files/files.h"
#include "lab/runs/align.h"

namespace poslab {
namespace {

constexpr size_t most = 100000;  // numbers: a checkpoint's configuration contains them all

std::string without(std::string line, const char* unwanted) {
  for (char& c : line)
    if (std::string(unwanted).find(c) != std::string::npos) c = ' ';
  return line;
}

std::string positions_in(const std::string& path) {
  std::istringstream lines(read_lines(path));
  std::string all, line;
  size_t count = 0;
  for (int n = 1; std::getline(lines, line); ++n) {
    try {
      for (const double p : numbers_of(without(line, "\t\r"))) all += fmt::format("{}{}", count++ ? " " : "", p);
    } catch (const BadInput& e) {
      bad_input("{}, line {}: {}; a file of positions has one number for each slot", path, n, e.what());
    }
  }
  if (count == 0 || count > most)
    bad_input("{}: {} positions; a file of positions has one for each slot, at most {}", path, count, most);
  return all;
}

// Comments begin with #.
std::string calibration_in(const std::string& path) {
  std::istringstream lines(read_lines(path));
  std::string all, line;
  size_t count = 0;
  while (std::getline(lines, line)) all += without(line.substr(0, line.find('#')), "\t\r") + " ";
  try {
    const Calibration c = read_calibration(all);
    for (const SlotBiases& head : c.of_heads) count += head.size();
    if (count > most) bad_input("{} numbers, but a run keeps at most {}", count, most);
    return text_of(c);
  } catch (const BadInput& e) { bad_input("{}: {}; `poslab calibrate` writes such files", path, e.what()); }
}

// Refuses the name of a file directly after KEY=, in place of numbers.
void refuse_without_mark(const std::string& text, const std::string& key, const char* ends) {
  for (size_t at = 0; (at = text.find(key + "=", at)) != text.npos;) {
    at += key.size() + 1;
    const std::string name = text.substr(at, text.find_first_of(ends, at) - at);
    std::error_code none;
    if (name.find_first_not_of("0123456789.:- ") != name.npos && std::filesystem::is_regular_file(name, none))
      bad_input("{0}={1}: a file is named with @, as in {0}=@{1}", key, name);
  }
}

// aligned:FILE, aligned:of=@FILE
std::string with_alignment(const std::string& value) {
  const std::string name = "aligned:", option = "of=", of_file = option + "@";
  if (value.rfind(name, 0) != 0) return value;
  std::string file = value.substr(name.size());
  refuse_without_mark(file, "of", "");
  if (file.rfind(of_file, 0) == 0) file.erase(0, of_file.size());
  else if (file.rfind(option, 0) == 0) return value;
  return name + option + text_of(read_alignment(file));
}

}  // namespace

std::string with_spelled_file(const std::string& option, const std::string& value) {
  if (option == "temperature" || option == "test_temperature") return with_alignment(value);
  const bool encoding = option == "encoding";
  if (!encoding && option != "positions" && option != "test_positions") return value;
  const char* const ends = encoding ? ",|+*" : ",|";
  refuse_without_mark(value, encoding ? "of" : "at", ends);
  std::string made = value;
  for (size_t at = 0; (at = made.find("=@", at)) != std::string::npos;) {
    const size_t end = std::min(made.find_first_of(ends, at), made.size());
    const std::string path = made.substr(at + 2, end - at - 2);
    const std::string numbers = encoding ? calibration_in(path) : positions_in(path);
    made.replace(at + 1, end - at - 1, numbers);
    at += 1 + numbers.size();
  }
  return made;
}

}  // namespace poslab
