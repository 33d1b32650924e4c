#include "lab/runs/other_test.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "core/ascii.h"
#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/shell.h"
#include "lab/hub/hf_model.h"
#include "lab/runs/results_csv.h"

namespace poslab {
namespace {

namespace fs = std::filesystem;

constexpr size_t longest_name = 100;  // characters of a file's name; a longer one ends in a checksum

bool suits_a_name(char c) { return ascii::is_alnum(c) || (c && std::strchr("-_.", c)); }

// "lengths" for eval_lengths, "positions" for test_positions
std::string short_name(const std::string& option) {
  return option.starts_with("eval_") || option.starts_with("test_") ? option.substr(5) : option;
}

// "lengths-1-40-positions-sequential"
std::string name_from_options(const Kind& kind, const Values& options) {
  std::string name;
  for (const std::string& option : kind.tested)
    if (const auto said = options.find(option); said != options.end())
      name += (name.empty() ? "" : "-") + short_name(option) + "-" + said->second;
  const std::string whole = name;
  for (char& c : name)
    if (!suits_a_name(c)) c = '-';
  if (name.size() <= longest_name) return name;
  const auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(whole.data()), whole.size());
  return fmt::format("{}-{:08x}", name.substr(0, longest_name - 9), checksum);
}

// Whether writing the test loses nothing: its name is free, or belongs to the same test.
bool is_free(const std::string& folder, const OtherTest& test) {
  const std::string json = folder + "/" + json_of_test(test.name);
  if (!fs::exists(folder + "/" + csv_of_test(test.name))) return true;  // a JSON file alone belongs to a failed test
  if (!fs::exists(json)) return false;
  try {
    RunRecord there = read_record(json);
    const std::string text = there.files["text"];  // "": the record was written before this field existed
    return there.test == test.options && (test.text.empty() || text.empty() || text == test.text);
  } catch (const Failure&) { return false; }
}

}  // namespace

Values differing(const Choices& own, const Choices& tested) {
  Values options;
  for (const std::string& option : kind_of(own).tested)
    if (const std::string& value = tested[option]; value != own[option]) options[option] = value;
  return options;
}

void find_name(const std::string& folder, OtherTest& test) {
  check_writable(folder);
  const bool own = test.options.empty() && !is_hf_folder(folder);
  if (own && !test.name.empty())
    bad_input("--name {}: this is the run's own test, which is kept in eval.csv; leave out --name", test.name);
  if (own) return;
  if (test.name.empty()) {
    const std::string made = name_from_options(kind_of_folder(folder), test.options);
    test.name = made;
    for (int n = 2; !is_free(folder, test); ++n) test.name = fmt::format("{}-{}", made, n);
    return;
  }
  if (!std::all_of(test.name.begin(), test.name.end(), suits_a_name) || test.name.size() > longest_name)
    bad_input("--name {}: it becomes a part of a file's name; use up to {} letters, digits and - _ .", test.name,
              longest_name);
  if (!is_free(folder, test))
    bad_input("--name {}: {}/{} is a test under other options{}; choose another name, or remove the file", test.name,
              folder, csv_of_test(test.name), test.text.empty() ? "" : " or of another text");
}

void write_other_test(const std::string& folder, const OtherTest& test, const Results& all, RunRecord record,
                      const Choices& tested) {
  keep_origin(record, record_before(folder, tested));
  record.test = test.options;
  // A test counts only with both files, so an old table must not stay with a new record.
  fs::remove(folder + "/" + csv_of_test(test.name));
  write_test(folder, test.name, all, std::move(record), tested);
}

std::string missing_of_test(const std::string& folder, const Kind& kind) {
  for (const std::string& name : {kind.last_file, csv_of_test("")})
    if (!fs::exists(folder + "/" + name)) return name;
  return "";
}

std::string csv_of_test(const std::string& name) { return name.empty() ? "eval.csv" : "eval-" + name + ".csv"; }
std::string json_of_test(const std::string& name) { return name.empty() ? "result.json" : "eval-" + name + ".json"; }
bool is_of_a_test(const std::string& file) {
  return file.starts_with("eval-") && (file.ends_with(".csv") || file.ends_with(".json"));
}

namespace {

std::vector<std::string> files_of_tests(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& at : fs::directory_iterator(folder, none))
    if (const std::string file = at.path().filename(); is_of_a_test(file)) files.push_back(file);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string other_half(const std::string& file) {
  return file.ends_with(".csv") ? file.substr(0, file.size() - 4) + ".json" : file.substr(0, file.size() - 5) + ".csv";
}

std::vector<std::string> other_tests(const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& file : files_of_tests(folder))
    if (file.ends_with(".json") && fs::exists(folder + "/" + other_half(file)))
      names.push_back(file.substr(5, file.size() - 5 - 5));
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> halves_of_tests(const std::string& folder) {
  std::vector<std::string> files = files_of_tests(folder);
  std::erase_if(files, [&](const std::string& file) { return fs::exists(folder + "/" + other_half(file)); });
  return files;
}

std::string test_command(const Kind& kind, const std::string& folder, const OtherTest& test) {
  const bool external = is_hf_folder(folder);
  std::string words = fmt::format("poslab {}{} {}", kind.command("eval"), external ? " --hf" : "", shell_path(folder));
  std::vector<std::string> options = kind.tested;
  if (external) options.insert(options.end(), {"positions", "train_length", "text"});
  for (const std::string& option : options)
    if (const auto said = test.options.find(option); said != test.options.end())
      words += fmt::format(
          " {} {}",
          option == "train_length" ? "--length" : dashed(option.starts_with("eval_") ? option.substr(5) : option),
          shell_word(said->second));
  return test.name.empty() ? words : words + " --name " + shell_word(test.name);
}

}  // namespace poslab
