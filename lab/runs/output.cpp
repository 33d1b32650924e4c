#include "lab/runs/output.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/shell.h"
#include "lab/runs/other_test.h"

namespace poslab {
namespace {

namespace fs = std::filesystem;

bool is_run_folder(const fs::path& folder) {
  return fs::exists(folder / "config.toml") && fs::exists(folder / "metrics.jsonl");
}

// Whether the path is in a run folder (lab/runs/run_folder.h); the file need not exist.
bool belongs_to_a_run(const std::string& name) {
  static const std::vector<std::string> own = {
      "config.toml",   "metrics.jsonl", "tests.jsonl",     "clock.jsonl", "checkpoint.safetensors", "eval.csv",
      "pictures.json", "result.json",   "vocabulary.json", "text.json",   "tokenizer.json",         "tokenizer.model",
      "origin.json"};
  return is_of_a_test(name) || std::find(own.begin(), own.end(), name) != own.end();
}

bool is_of_kind(const Output& kind, const std::string& path) {
  const std::string text = read_file(path);
  return text.empty() || (text.starts_with(kind.begins) && text.find(kind.holds) != text.npos);
}

const Output& by_ending(const std::string& option, const std::string& path, const std::vector<Output>& kinds) {
  std::vector<std::string> known;
  for (const Output& kind : kinds) {
    const std::string ending = fs::path(path).extension();
    for (const char* other : {".html", ".svg", ".pdf", ".png", ".pgf", ".tex"})
      if (kind.ending.empty() && ending == other)
        bad_input("{} {}: {} is written there, so the name cannot end in {}; choose another name", option,
                  shell_word(path), kind.what, other);
    if (path.size() > kind.ending.size() && path.ends_with(kind.ending)) return kind;
    known.push_back(fmt::format("{} ({})", kind.ending, kind.what));
  }
  bad_input("{} {}: what kind of file is this? Name it {}", option, shell_word(path), fmt::join(known, " or "));
}

}  // namespace

Output html_output(const std::string& command) {
  return {".html", "a page", "<!doctype html>", "<meta name=\"generator\" content=\"" + command};
}
Output csv_output(const std::string& first_columns) { return {"", "a table, as CSV,", first_columns}; }

void check_output(const std::string& option, const std::string& path, const std::vector<Output>& kinds) {
  if (path.starts_with("/dev/") || path.starts_with("/proc/")) return;
  if (path == "-") bad_input("{} -: it takes the name of a file; /dev/stdout is the standard output", option);
  std::error_code error;
  if (path.empty() && kinds.front().ending.empty()) bad_input("{} '': name the file to write", option);
  if (fs::is_directory(path, error)) bad_input("cannot write {}: it is a folder; choose another path", path);
  if (fs::is_other(path, error)) return;  // a device or a pipe, which write_file can write
  const Output& kind = by_ending(option, path, kinds);
  if (const fs::path parent = fs::path(path).parent_path(); !parent.empty() && !fs::exists(parent, error))
    bad_input("cannot write {}: there is no such folder; choose another path", path);
  const fs::path real = fs::weakly_canonical(path, error), folder = error ? fs::path() : real.parent_path();
  if (!error) check_writable(folder.empty() ? "." : folder.string());
  if (belongs_to_a_run(real.filename()) && is_run_folder(folder))
    bad_input("{} {}: this is a file of the run {}; choose another name", option, shell_word(path), folder.string());
  if (fs::exists(path, error) && !is_of_kind(kind, path))
    bad_input("{} {}: this file exists and holds something else; choose another name, or remove it", option,
              shell_word(path));
}

void check_names_folder(const std::string& option, const std::string& path) {
  const fs::path name(path);
  if (path == "-") bad_input("{} -: it takes the name of a folder, and - is not one; name one", option);
  for (const char* ending : {".html", ".svg", ".pdf", ".png", ".csv"})
    if (name.extension() == ending && !fs::is_directory(name))
      bad_input("{} {}: the output is a folder with index.html in it; name it without {}, as in {} {}", option,
                shell_word(path), ending, option, shell_word(fs::path(name).replace_extension()));
}

void check_output_folder(const std::string& option, const std::string& path, const std::string& own,
                         const Output& kind, const std::vector<std::string>& names) {
  const fs::path folder(path);
  check_names_folder(option, path);
  if (is_run_folder(folder)) bad_input("{} {}: this is the folder of a run; choose another", option, shell_word(path));
  if (fs::exists(folder / own)) {
    if (is_of_kind(kind, folder / own)) return;
    bad_input("{} {}: its {} holds something else; choose another folder", option, shell_word(path), own);
  }
  for (const std::string& name : names)
    if (fs::exists(folder / name))
      bad_input("{} {}: it has a {}, which would be lost; choose another folder", option, shell_word(path), name);
}

std::string partial_of(const std::string& folder) { return fs::path(folder + "/").parent_path().string() + ".partial"; }

void write_new_folder(const std::string& path, const std::function<void(const std::string& partial)>& write) {
  const std::string partial = partial_of(path);
  std::error_code error;
  try {
    make_folder(partial);
    write(partial);
    fs::rename(partial, path);
  } catch (const fs::filesystem_error& e) {
    fs::remove_all(partial, error);
    failure("cannot make the folder {}: {}", path, e.code().message());
  } catch (...) {
    fs::remove_all(partial, error);
    throw;
  }
}

}  // namespace poslab
