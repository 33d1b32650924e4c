#include "lab/runs/run_folder.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "core/error.h"
#include "core/names.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/shell.h"
#include "lab/hub/hf_model.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/output.h"
#include "lab/runs/own_files.h"

namespace poslab {
namespace fs = std::filesystem;

namespace {

// Removes the remains of an interrupted creation. A trained run, which also has a clock.jsonl, is kept.
void check_leftovers(const std::string& partial) {
  std::error_code error;
  bool ours = !fs::is_symlink(partial, error);
  for (const auto& entry : fs::directory_iterator(partial, error)) {
    std::string name = entry.path().filename();
    for (const std::string mark : {".partial", ".poslab"})
      if (name.ends_with(mark)) name.resize(name.size() - mark.size());
    bool known = false;
    for (const char* own : {"metrics.jsonl", "config.toml", "checkpoint.safetensors", "checkpoints", "vocabulary.json",
                            "tokenizer.json", "tokenizer.model", "tokenizer_config.json", "text.json", "origin.json",
                            "eval.csv", "result.json"})
      known = known || name == own;
    ours = ours && known;
  }
  if (!ours)
    bad_input(
        "the run would be written in {}, which exists and holds something else; choose another --out, or rename it",
        partial);
}

}  // namespace

void RunFolder::check_free(const std::string& path) {
  if (path.empty() || path == "-") bad_input("which folder should hold the run? Give --out FOLDER");
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_directory(path, error))
    bad_input("{} exists already, and is not a folder; choose another --out", path);
  if (fs::is_directory(path, error) && !fs::exists(fs::path(path) / "config.toml", error))
    bad_input("{0} exists already, and is not a run; choose another --out, as in {1}", path,
              shell_path(fs::path(path) / "r1"));
  if (fs::exists(path, error))
    bad_input("{} exists already; choose another --out, or go on with `poslab resume {}`", path, shell_path(path));
  check_leftovers(partial_of(path));
}

std::string run_near(const std::string& path) {
  const fs::path wanted = fs::path(path + "/").parent_path(), folder = wanted.parent_path();
  std::vector<std::string> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, error))
    if (fs::exists(entry.path() / "config.toml", error)) runs.push_back(entry.path().filename());
  std::sort(runs.begin(), runs.end());
  const std::string* near = nearest(wanted.filename(), runs);
  return near ? fmt::format("; did you mean {}?", shell_path(folder / *near)) : "";
}

RunFolder RunFolder::create(const std::string& path, const State& state) {
  return create(path, state.config, checkpoint_bytes(state));
}

RunFolder RunFolder::create(const std::string& path, const Choices& c, const std::string& checkpoint, Files files,
                            int64_t step) {
  check_free(path);
  files.insert(files.end(), {{"config.toml", to_toml(c)}, {"checkpoint.safetensors", checkpoint}});
  // The existence of this folder tells a later resume that checkpoints are kept.
  if (c.on("keep_checkpoints")) files.emplace_back(fmt::format("checkpoints/{}.safetensors", step), checkpoint);
  const std::string partial = partial_of(path);
  make_folder(fs::absolute(partial).parent_path());
  make_folder(partial);
  RunFolder run(partial, path);                    // the lock stays with the folder when it is renamed
  check_leftovers(partial);  // checked again: no other process can make a run there any more
  for (const auto& left : fs::directory_iterator(partial)) fs::remove_all(left.path());
  write_new_folder(path, [&](const std::string& folder) {
    write_file(folder + "/metrics.jsonl", "");
    for (const auto& [name, bytes] : files) {
      make_folder(fs::path(folder + "/" + name).parent_path());
      write_file(folder + "/" + name, bytes);
    }
  });
  run.path_ = path;
  return run;
}

namespace {

// The run folder of a lone checkpoint: next to it, with its name, made at the first call.
std::string folder_of_checkpoint(const std::string& file) {
  std::string path = fs::path(file).replace_extension();
  const std::string bytes = read_file(file);
  const State state = checkpoint_state(bytes, file);
  if (!fs::exists(path)) return RunFolder::create(path, state).path();
  if (!fs::is_directory(path) || read_file(path + "/checkpoint.safetensors") != bytes)
    bad_input("{} would become the run folder {}, which exists and holds something else; name that folder, or rename "
              "the file", file, path);
  return path;
}

}  // namespace

RunFolder RunFolder::open(const std::string& path) {
  if (const fs::path beside = fs::path(path).replace_filename("config.toml");
      fs::path(path).filename() == "checkpoint.safetensors" && fs::exists(beside))
    return open(beside.has_parent_path() ? beside.parent_path().string() : ".");
  if (fs::is_regular_file(path) && fs::path(path).extension() == ".safetensors") {
    const fs::path kept = fs::absolute(path).parent_path(), run = kept.parent_path();
    if (kept.filename() == "checkpoints" && fs::exists(run / "config.toml"))
      bad_input("{} is a kept checkpoint of the run {}; name that folder, or copy the file elsewhere, where it becomes "
                "a run of its own", path, fs::proximate(run).string());
    return open(folder_of_checkpoint(path));
  }
  if (path.empty()) bad_input("the name of the run folder is empty; name the run, as in runs/r1");
  if (const fs::path parent = fs::path(path).parent_path();
      fs::is_regular_file(path) && fs::exists(parent / "config.toml"))
    bad_input("{} is a file of the run {}; name that folder", path, parent.empty() ? "." : parent.string());
  if (path.ends_with(".toml") && fs::is_regular_file(path))
    bad_input("{0} is a file of options, not a run folder; `poslab train --config {0}` begins a run with them",
              shell_path(path));
  if (const std::string near = run_near(path); !fs::is_directory(path))
    bad_input("there is no run folder {}{}", path, near.empty() ? "; `poslab train` makes one" : near);
  if (is_hf_folder(path))
    bad_input(
        "{0} is a checkpoint of Hugging Face's form, not a run; `poslab lm eval --hf {0}`, lm generate, inspect and "
        "view read it",
        shell_path(path));
  if (fs::exists(fs::path(path) / "plan.jsonl") && !fs::exists(fs::path(path) / "config.toml"))
    bad_input("{0} is the folder of a sweep; name a run in it, or go on with all of them by `poslab sweep run {1}`",
              path, shell_path(path));
  for (const char* name : {"config.toml", "metrics.jsonl", "checkpoint.safetensors"})
    if (!fs::exists(fs::path(path) / name))
      bad_input("{} is not a run folder, or an incomplete one: {}/{} is missing", path, path, name);
  return RunFolder(path, path);
}

RunFolder::RunFolder(std::string path, const std::string& named) : path_(std::move(path)) {
  const int folder = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) failure("cannot open {}: {}", path_, std::strerror(errno));
  lock_ = owned_file(folder);
  if (::flock(folder, LOCK_EX | LOCK_NB) != 0)
    failure("{} is in use by another poslab; wait until it ends, or name another folder", named);
}

RunSpec RunFolder::config(const Checkpoint& saved, const Kind& kind) const {
  const RunSpec c(kind.configure(read_toml(saved.config(), checkpoint(), kind)));
  check_same_run(path_, witness_of_config(path_, kind), {checkpoint(), c, remedy_of_checkpoint(path_)},
                 [&] { return witness_of_result(path_, kind); });
  return c;
}

State RunFolder::load(const std::string& device) const {
  const Checkpoint saved(read_file(checkpoint()), checkpoint());
  RunSpec c = config(saved, strings_kind());
  if (!device.empty()) c.move_to(device);
  State state(c);
  saved.read_into(state.params, state.adam);
  return state;
}

std::vector<int64_t> RunFolder::kept_steps() const {
  std::vector<int64_t> steps;
  std::error_code none;
  for (const auto& at : fs::directory_iterator(file("checkpoints"), none)) {
    const std::string name = at.path().stem();
    const bool number = !name.empty() && name.size() < 19 && name.find_first_not_of("0123456789") == name.npos;
    if (number && at.path().extension() == ".safetensors") steps.push_back(std::stoll(name));
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

StepLog::StepLog(const RunFolder& run, const std::string& name, int64_t step) : path_(run.file(name)) {
  const std::string text = fs::exists(path_) ? read_file(path_) : "";
  size_t keep = 0;
  for (size_t end; (end = text.find('\n', keep)) != std::string::npos; keep = end + 1) {
    const Json line = try_json(std::string_view(text).substr(keep, end - keep));
    if (!line.is_object() || !line.value("step", Json()).is_number_integer() || line["step"] > step) break;
    before_ = text.substr(keep, end - keep), last_ = line["step"];
  }
  sum_.add(text.data(), keep);
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0 || ::ftruncate(file_, off_t(keep)) != 0) failure("cannot write {}: {}", path_, std::strerror(errno));
}

StepLog::~StepLog() { ::close(file_); }

void StepLog::line(const std::string& json) {
  const std::string whole = json + "\n";
  sum_.add(whole.data(), whole.size());
  waiting_ += whole;
  if (waiting_.size() > 4096) write_all(file_, waiting_, path_), waiting_.clear();
}

void StepLog::sync() {
  write_all(file_, waiting_, path_);
  waiting_.clear();
  confirm(file_, path_);
}

void must_reach(int64_t last, int64_t step, const std::string& path) {
  if (last > 0 && last < step)
    failure("{} is cut off: its last line is of step {}, but the run had one of step {}; restore it from a copy", path,
            last, step);
}

std::vector<Json> read_steps(const std::string& path, const std::vector<std::string>& numbers) {
  std::vector<Json> all;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    Json entry = try_json(line);
    const auto has = [&](const std::string& name) {
      return entry.contains(name) && (entry[name].is_number() || (entry[name].is_null() && name != "step"));
    };
    if (!entry.is_object() || !has("step") || !std::all_of(numbers.begin(), numbers.end(), has))
      failure(
          "{} is damaged: line {} reads \"{}\", which is not an object with the numbers step{}{}; restore the "
          "file from a copy, or empty it to do without",
          path, all.size() + 1, line.substr(0, 60), numbers.empty() ? "" : ", ", fmt::join(numbers, ", "));
    if (!all.empty() && entry["step"] <= all.back()["step"])
      failure("{} is damaged: line {} is of step {}, but the line before of step {}; restore the file from a copy",
              path, all.size() + 1, entry["step"].dump(), all.back()["step"].dump());
    all.push_back(std::move(entry));
  }
  return all;
}

}  // namespace poslab
