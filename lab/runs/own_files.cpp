#include "lab/runs/own_files.h"

#include <filesystem>

#include "core/checksum.h"
#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/shell.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/origin.h"
#include "lab/runs/run_folder.h"
#include "lab/runs/text_source.h"

namespace poslab {
namespace {

namespace fs = std::filesystem;

constexpr const char* metrics = "metrics.jsonl";

// Each file, with the remedy if it is not the run's.
std::vector<std::pair<std::string, std::string>> names_and_remedies(const std::string& folder) {
  const std::string copy = "restore it from a copy";
  return {{metrics, copy + ", or empty it to do without"},
          {"tests.jsonl", copy},
          {"pictures.json", fmt::format("{}, or draw it again with `poslab {} {}`", copy,
                                        kind_of_folder(folder).command("eval"), shell_path(folder))},
          {"vocabulary.json", copy},
          {"tokenizer.json", copy},
          {"tokenizer.model", copy},
          {"text.json", copy},
          {"origin.json", copy}};
}

// The step of the last complete line, or 0.
int64_t last_step(std::string_view lines) {
  while (lines.ends_with('\n')) lines.remove_suffix(1);
  const Json last = try_json(lines.substr(lines.rfind('\n') + 1));
  return last.is_object() && last.value("step", Json()).is_number_integer() ? int64_t(last["step"]) : 0;
}

std::optional<Witness> witness(const std::string& file, const std::string& remedy,
                               const std::function<Choices()>& config) {
  try {
    if (fs::exists(file)) return Witness{file, config(), remedy};
  } catch (const BadInput&) {  // A damaged file is no witness.
  } catch (const Failure&) {  // Nor is one that cannot be read.
  }
  return {};
}

}  // namespace

std::string run_beside(const std::string& folder, const std::string& name, const std::string& bytes) {
  std::error_code error;
  const auto holds = [&](const fs::path& file, const std::string& what) {
    return fs::file_size(file, error) == what.size() && !error && read_file(file) == what;
  };
  const fs::path own = fs::path(folder + "/").parent_path(), above = own.parent_path();
  const std::string config = fs::exists(own / "config.toml") ? read_file(own / "config.toml") : "";
  for (const auto& at : fs::directory_iterator(above.empty() ? "." : above, error))
    if (const fs::path run = above / at.path().filename();
        run != own && holds(run / name, bytes) && !holds(run / "config.toml", name == "config.toml" ? "" : config))
      return run;
  return "";
}

std::string checksum_of_bytes(const std::string& bytes) {
  Checksum all;
  all.add(bytes.data(), bytes.size());
  return all.digits();
}

Values own_files(const std::string& folder) {
  Values all;
  for (const auto& [name, remedy] : names_and_remedies(folder))
    if (const std::string path = folder + "/" + name; fs::exists(path)) all[name] = checksum_of_bytes(read_file(path));
  if (all.count("text.json")) all["text"] = text_of(folder).checksum();
  if (all.count("origin.json")) all["origin"] = origin_of(folder);
  return all;
}

void check_own_files(const std::string& folder, const RunRecord& record) {
  for (const auto& [name, remedy] : names_and_remedies(folder)) {
    const std::string path = folder + "/" + name;
    const auto sum = record.files.find(name);
    if (!fs::exists(path) || (name != metrics && sum == record.files.end())) continue;
    const std::string bytes = read_file(path);
    if (name == metrics && bytes.empty()) continue;
    if (name == metrics && record.steps) must_reach(last_step(bytes), *record.steps, path);
    if (sum == record.files.end() || checksum_of_bytes(bytes) == sum->second) continue;
    const std::string other = run_beside(folder, name, bytes);
    failure("{} {}: its checksum is {}, but {}/result.json has {}; {}", path,
            other.empty() ? "was changed or belongs to another run" : "is that of " + other, checksum_of_bytes(bytes),
            folder, sum->second, remedy);
  }
}

std::string difference(const Choices& a, const Choices& b) {
  for (const Option& o : kept_options(kind_of(a)))
    if (o.name != "device" && a[o.name] != b[o.name]) return o.name;
  return "";
}

Witness witness_of_config(const std::string& folder, const Kind& kind) {
  const std::string path = folder + "/config.toml";
  return {path, kind.configure(read_toml(read_file(path), path, kind)),
          fmt::format("restore it, or train again with --config {} --out ANOTHER", shell_path(path))};
}

std::string remedy_of_checkpoint(const std::string& folder) {
  return fmt::format("restore it from a copy, or train again with --config {} --out ANOTHER",
                     shell_path(folder + "/config.toml"));
}

std::optional<Witness> witness_of_checkpoint(const std::string& folder, const Kind& kind) {
  const std::string path = folder + "/checkpoint.safetensors";
  return witness(path, remedy_of_checkpoint(folder), [&] {
    return kind.configure(read_toml(Checkpoint(read_file(path), path, kind).config(), path, kind));
  });
}

std::optional<Witness> witness_of_result(const std::string& folder, const Kind& kind) {
  const std::string path = folder + "/result.json";
  return witness(path, fmt::format("restore it and eval.csv from a copy, or test again with `poslab {} {}`",
                                   kind.command("eval"), shell_path(folder)), [&] {
    return config_of(kind, read_record(path).config);
  });
}

void check_same_run(const std::string& folder, const Witness& config, const Witness& other,
                    const std::function<std::optional<Witness>()>& third) {
  const std::string option = difference(config.config, other.config);
  if (option.empty()) return;
  const auto fault = [&](const Witness& w) {
    const std::string of = run_beside(folder, "config.toml", to_toml(w.config));
    return fmt::format("{} {}", w.file, !of.empty()      ? "is that of " + of
                                        : &w == &config ? "was changed after the run began"
                                                        : "belongs to another run");
  };
  const std::optional<Witness> one = third();
  for (const auto& [own, stranger] : {std::pair(&config, &other), {&other, &config}})
    if (one && difference(one->config, own->config).empty())
      bad_input("{}: it has {} = {}, but {} and {} have {}; {}", fault(*stranger), option, stranger->config[option],
                own->file, one->file, own->config[option], stranger->remedy);
  bad_input("{}, or {}: {} = {} and {}; restore one of them from a copy, or train again with --config {} "
            "--out ANOTHER",
            fault(config), fault(other), option, config.config[option], other.config[option],
            shell_path(config.file));
}

}  // namespace poslab
