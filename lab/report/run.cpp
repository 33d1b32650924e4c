#include "lab/report/run.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "core/error.h"
#include "experiment/build.h"
#include "lab/config_toml.h"
#include "lab/files.h"
#include "lab/json.h"
#include "lab/shell.h"
#include "lab/t5/run.h"

namespace poslab::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string text_of(const std::string& folder, const std::string& name, const std::string& remedy) {
  const fs::path path = fs::path(folder) / name;
  if (!fs::exists(path)) bad_input("report: {} has no {}; {}", folder, name, remedy);
  return read_file(path.string());
}

[[noreturn]] void damaged(const std::string& folder, const std::string& where, const std::string& why) {
  failure("report: {}/{} is damaged: {}", folder, where, why);
}

void read_config(Run& run) {
  const std::string text = text_of(run.folder, "config.toml", "is it the folder of a run?");
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& e) { damaged(run.folder, "config.toml", std::string(e.description())); }
  for (auto&& [key, value] : table) {
    std::ostringstream shown;
    if (const auto* s = value.as_string())
      shown << s->get();
    else if (const auto* x = value.as_floating_point())
      shown << fmt::format("{}", x->get());  // 0.1, not 0.10000000000000001
    else if (const auto* on = value.as_boolean())
      shown << (on->get() ? "on" : "off");
    else
      value.visit([&](auto&& node) { shown << node; });
    run.config[std::string(key.str())] = shown.str();
  }
  const auto need = [&](const char* key) {
    const auto it = run.config.find(key);
    if (it == run.config.end()) damaged(run.folder, "config.toml", fmt::format("it lacks \"{}\"", key));
    return it->second;
  };
  run.task = need(studied(run.kind));
  run.encoding = need("encoding"), run.positions = need("positions");
  run.seed = table["seed"].value_or<int64_t>(0);
  run.setting = run.config;
  try {
    if (run.kind == RunKind::task) {
      const Config c = configure(read_toml(text, "config.toml"));
      run.encoding = scheme(c).spelled();  // with its options
      run.setting = values_of(c);
    } else {
      run.setting = values_of(configure(run.kind, read_toml(text, "config.toml", run.kind)));
    }
  } catch (const BadInput&) {  // of another version of poslab: as it stands there
  }
  run.setting = setting_of(std::move(run.setting));
  run.train_length = table["train_length"].value_or(0);
  if (run.train_length < 1) damaged(run.folder, "config.toml", "it lacks \"train_length\", a number of at least 1");
}

void read_training(Run& run) {
  std::istringstream lines(text_of(run.folder, "metrics.jsonl", "is it the folder of a run?"));
  std::string line;
  for (int n = 1; std::getline(lines, line); ++n) {
    const Json entry = try_json(line);
    if (!entry.is_object() || !entry.contains("step") || !entry["step"].is_number() || !entry.contains("loss"))
      damaged(run.folder, fmt::format("metrics.jsonl, line {},", n), "it is no object with \"step\" and \"loss\"");
    const Json& loss = entry["loss"];  // JSON has no NaN: a diverged loss is null
    if (!loss.is_number() && !loss.is_null())
      damaged(run.folder, fmt::format("metrics.jsonl, line {},", n), fmt::format("the loss is {}", in_short(loss)));
    const Json accuracy = entry.value("accuracy", Json());
    run.training.push_back({entry["step"], loss.is_null() ? std::nan("") : loss.get<double>(),
                            accuracy.is_number() ? accuracy.get<double>() : std::nan("")});
  }
}

void read_result(Run& run) {
  if (!fs::exists(fs::path(run.folder) / "result.json"))
    bad_input("report: {} has no result.json; finish it with `poslab resume {}`", run.folder, shell_word(run.folder));
  run.record = read_record(run.folder + "/result.json");
  if (fs::exists(fs::path(run.folder) / "pictures.json")) {
    run.pictures = try_json(text_of(run.folder, "pictures.json", ""));
    const json& p = run.pictures;
    if (!p.is_object() || !p.contains("positions") || !p.contains("examples") || !p["examples"].is_array())
      damaged(run.folder, "pictures.json",
              "it lacks the positions or the examples; remove the file to do without them");
  }
}

// What a language model was tested on and trained on.
void read_language(Run& run) {
  const auto path = [&](const char* name) { return (fs::path(run.folder) / name).string(); };
  if (!fs::exists(path("eval.csv")))
    bad_input("report: {} has no eval.csv; finish it with `poslab lm resume {}`", run.folder, shell_word(run.folder));
  run.windows = language::read_csv(path("eval.csv"));
  for (const language::AtLength& at : run.windows)
    if (!at.repeated) run.tested.push_back({at.length, int(at.samples), at.accuracy, at.accuracy, at.loss, {}});
  std::sort(run.tested.begin(), run.tested.end(), [](auto& a, auto& b) { return a.length < b.length; });
  if (run.tested.empty()) damaged(run.folder, "eval.csv", "it has no plain text; test the run again");
  if (fs::exists(path("result.json"))) run.record = read_record(path("result.json"));
  if (run.task == "copy_grammar") {
    run.text = "a made-up language, drawn as it is read";
    return;
  }
  const language::ReadText text = language::text_of(run.folder);
  run.task = run.config["text"] = text.path;
  run.text = fmt::format("{} of {:.1f} MB, of which one in ten is of the test", counted(text.files, "file"),
                         double(text.bytes) / 1e6);
}

// A run of a T5, once for each task that it was tested on.
std::vector<Run> tasks_of(const Run& whole) {
  const std::string path = (fs::path(whole.folder) / "eval.csv").string();
  if (!fs::exists(path))
    bad_input("report: {} has no eval.csv; finish it with `poslab t5 resume {}`", whole.folder,
              shell_word(whole.folder));
  std::vector<Run> all;
  for (const t5::AtLength& at : t5::read_csv(path)) {
    if (all.empty() || all.back().task != at.task) {
      all.push_back(whole);
      all.back().task = at.task;
      if (const auto record = fs::path(whole.folder) / "result.json"; fs::exists(record))
        all.back().record = read_record(record.string());
    }
    static_assert(t5::places == language::parts);
    language::AtLength window{.length = at.length, .samples = at.samples, .loss = at.loss, .accuracy = at.accuracy};
    std::copy(std::begin(at.accuracy_of_place), std::end(at.accuracy_of_place), window.accuracy_of_part);
    all.back().windows.push_back(window);
    all.back().tested.push_back({at.length, int(at.samples), at.accuracy, at.accuracy, at.loss, {}});
  }
  for (Run& run : all)
    std::sort(run.tested.begin(), run.tested.end(), [](auto& a, auto& b) { return a.length < b.length; });
  return all;
}

}  // namespace

std::vector<Run> read_runs(const std::string& folder) {
  if (!fs::is_directory(folder)) bad_input("report: there is no run folder \"{}\"", folder);
  Run run;
  run.folder = folder;
  while (run.folder.size() > 1 && run.folder.back() == '/') run.folder.pop_back();
  run.kind = kind_of_folder(run.folder);
  read_config(run);
  read_training(run);
  if (run.kind == RunKind::t5) return tasks_of(run);
  if (run.kind == RunKind::language)
    read_language(run);
  else
    run.tested = read_eval_csv(run.folder), read_result(run);
  return {run};
}

}  // namespace poslab::report
