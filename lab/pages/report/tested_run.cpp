#include "lab/pages/report/tested_run.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "core/error.h"
#include "experiment/build.h"
#include "experiment/lengths.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/shell.h"
#include "lab/hub/hf_model.h"
#include "lab/hub/stored_tensors.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/run_folder.h"
#include "lab/runs/text_source.h"
#include "lab/runs/toml.h"

namespace poslab::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The path of a file that every run has.
std::string path_in(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name;
  if (!fs::exists(path)) bad_input("report: {} has no {}; is it the folder of a run?", folder, name);
  return path;
}

[[noreturn]] void damaged(const std::string& folder, const std::string& where, const std::string& why) {
  failure("report: {}/{} is damaged: {}", folder, where, why);
}

void read_config(TestedRun& run) {
  const std::string path = path_in(run.folder, "config.toml"), text = read_file(path);
  const toml::table table = parse_toml(text, path);
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
  Lengths trained{1, table["train_length"].value_or(0)};
  const auto need = [&](bool there, const std::string& what) {
    if (!there) bad_input("report: {} lacks {}; restore it from a copy, or train again", path, what);
  };
  for (const std::string& option : {run.kind->studied, std::string("encoding")}) need(run.config.count(option), option);
  need(trained.to >= 1, "train_length, a number of at least 1");
  run.task = run.option(run.kind->studied), run.encoding = run.option("encoding");
  run.seed = table["seed"].value_or<int64_t>(0);
  run.setting = run.config;
  try {
    const Choices c = run.kind->configure(read_toml(text, "config.toml", *run.kind));
    trained = trained_lengths(c);
    if (c.has("task")) run.encoding = RunSpec(c).scheme.spelled();  // with its options
    run.setting = values_of(c);
  } catch (const BadInput&) {  // a class that this process lacks: the spelling stays as in the file
  }
  run.setting = setting_of(std::move(run.setting));
  run.shortest_trained = trained.from, run.train_length = trained.to;
}

void read_training(TestedRun& run) {
  for (const Json& entry : read_steps(path_in(run.folder, "metrics.jsonl"), {"loss"})) {
    const Json& loss = entry["loss"];  // JSON has no NaN: a diverged loss is null
    const Json accuracy = entry.value("accuracy", Json());
    run.training.push_back({entry["step"], loss.is_null() ? std::nan("") : loss.get<double>(),
                            accuracy.is_number() ? accuracy.get<double>() : std::nan("")});
  }
}

// Records an option that the test had set differently from config.toml. Language models and T5s may be tested with
// another encoding, which pages call test_encoding.
void retested(TestedRun& run, const std::string& option, const std::string& value) {
  const bool of_test = option.starts_with("eval_") || option.starts_with("test_");
  const std::string shown = of_test ? option : "test_" + option;
  run.retested[option] = run.config[shown] = value;
  run.other_test += fmt::format("{}{}={}", run.other_test.empty() ? "" : " ", shown, shortened(value));
}

void read_pictures(TestedRun& run) {
  if (!fs::exists(fs::path(run.folder) / "pictures.json")) return;
  run.pictures = try_json(read_file(path_in(run.folder, "pictures.json")));
  const json& p = run.pictures;
  if (!p.is_object() || !p.contains("positions") || !p.contains("examples") || !p["examples"].is_array())
    damaged(run.folder, "pictures.json", "it lacks the positions or the examples; remove the file to do without them");
}

// Accuracy against length, from eval.csv.
void find_curve(TestedRun& run) {
  const bool repeats = run.all.front().has("set");
  run.tested = repeats ? only(run.all, "set", "plain") : run.all;
  std::sort(run.tested.begin(), run.tested.end(), [](auto& a, auto& b) { return a.length() < b.length(); });
  if (run.tested.empty()) damaged(run.folder, csv_of_test(run.test), "it has no plain text; test the run again");
}

// A description of the text that a run reads.
void describe_text(TestedRun& run) {
  if (run.task == "copy_grammar") {
    run.text = "a made-up language, drawn as it is read";
    return;
  }
  if (is_hf_folder(run.folder)) {
    run.text = "a text for the test only, because the model was trained elsewhere";
    return;
  }
  const TextRecord text = text_of(run.folder);
  run.task = run.config["text"] = text.path, run.checksum = text.checksum();
  run.text = fmt::format("{} of {:.1f} MB, of which {} is for the test", counted(text.files.size(), "file"),
                         double(text.bytes()) / 1e6, text.files.size() == 1 ? "the last tenth" : "one in ten");
}

// The run as tested by run.test, once for each of its tasks.
std::vector<TestedRun> read_of(TestedRun run) {
  auto [rows, read] = read_test(run.folder, run.test);
  run.all = std::move(rows), run.record = std::move(read);
  if (run.test.empty()) read_pictures(run);
  if (run.config.count("text")) describe_text(run);
  std::vector<TestedRun> of_tasks;
  if (run.all.front().has("task")) {
    for (const Row& row : run.all)
      if (of_tasks.empty() || of_tasks.back().task != row.word("task")) {
        of_tasks.push_back(run);
        of_tasks.back().task = row.word("task");
        of_tasks.back().all = only(run.all, "task", row.word("task"));
      }
  } else {
    of_tasks.push_back(run);
  }
  for (TestedRun& one : of_tasks) find_curve(one);
  return of_tasks;
}

// eval-NAME.json has all options of a checkpoint's test, with the typed ones in "test". Tests of another checkpoint are
// skipped.
std::vector<TestedRun> tests_of_checkpoint(const std::string& folder, std::vector<std::string>& passed) {
  const Kind& kind = kind_of_folder(folder);
  std::vector<TestedRun> all;
  Values own;
  for (const std::string& name : other_tests(folder)) {
    auto [rows, record] = read_test(folder, name);
    if (own.empty() && !record.files.empty()) own = checksums_of_hf(folder);
    const auto other = std::find_if(own.begin(), own.end(), [&](const auto& file) {
      const auto then = record.files.find(file.first);
      return then != record.files.end() && then->second != file.second;
    });
    if (other != own.end()) {
      passed.push_back(
          fmt::format("{}/{} is a test of another checkpoint: the checksum of its {} is {}, and that of "
                      "{} is {}; remove it, or test again with `{}`",
                      folder, csv_of_test(name), other->first, record.files[other->first], folder, other->second,
                      test_command(kind, folder, {name, record.test})));
      continue;
    }
    const Choices tested = config_of(kind, record.config);
    all.push_back(tested_run(folder, tested, std::move(rows), test_command(kind, folder, {name, record.test})));
    all.back().test = name, all.back().record = std::move(record);
    all.back().checksum = all.back().record.files["text"];
  }
  return all;
}

}  // namespace

TestedRun tested_run(const std::string& folder, const Choices& tested, Results all, const std::string& again) {
  TestedRun run;
  run.kind = &kind_of(tested), run.folder = folder, run.again = again;
  run.task = tested[run.kind->studied];
  run.encoding = tested["encoding"];
  run.train_length = tested.whole("train_length"), run.seed = tested.count("seed");
  run.config = values_of(tested), run.setting = setting_of(run.config);
  run.all = std::move(all);
  describe_text(run);
  find_curve(run);
  return run;
}

std::string TestedRun::place() const { return test.empty() ? folder : folder + "/" + csv_of_test(test); }

std::string TestedRun::option(const std::string& name) const {
  const auto at = config.find(name);
  return at == config.end() ? "" : at->second;
}

std::vector<TestedRun> read_runs(const std::string& folder, std::vector<std::string>& passed) {
  for (const std::string& half : halves_of_tests(folder))
    passed.push_back(
        fmt::format("{}/{} has no {} beside it; restore that, or repeat the test", folder, half, other_half(half)));
  if (is_hf_folder(folder)) return tests_of_checkpoint(folder, passed);
  TestedRun run;
  run.folder = folder;
  while (run.folder.size() > 1 && run.folder.back() == '/') run.folder.pop_back();
  run.kind = &kind_of_folder(run.folder);
  read_config(run);
  TestedRun untrained = run;  // a second curve of the same training adds nothing
  read_training(run);
  std::vector<TestedRun> all = read_of(run);
  const std::optional<int64_t> steps = all.front().record.steps;
  for (const std::string& name : other_tests(run.folder)) {
    TestedRun other = untrained;
    other.test = name;
    const RunRecord record = read_record(run.folder + "/" + json_of_test(name));
    if (steps && record.steps && record.steps != steps) {
      passed.push_back(fmt::format("{} was tested at step {}, but the run is at {}; test it again with `{}`",
                                   other.place(), *record.steps, *steps,
                                   test_command(*run.kind, run.folder, {name, record.test})));
      continue;
    }
    for (const std::string& option : run.kind->tested)
      if (const auto said = record.test.find(option); said != record.test.end()) retested(other, option, said->second);
    for (TestedRun& one : read_of(other)) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace poslab::report
