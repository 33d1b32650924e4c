#include "lab/pages/report/run.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

#include "core/error.h"
#include "experiment/build.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/shell.h"
#include "lab/runs/config_toml.h"
#include "lab/runs/t5/run.h"

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
  run.task = need(run.kind->studied.c_str());
  run.encoding = need("encoding"), run.positions = need("positions");
  run.seed = table["seed"].value_or<int64_t>(0);
  run.setting = run.config;
  try {
    if (*run.kind == strings_kind()) {
      const Choices c = configure(read_toml(text, "config.toml"));
      run.encoding = scheme(c).spelled();  // with its options
      run.setting = values_of(c);
    } else {
      run.setting = values_of(run.kind->configure(read_toml(text, "config.toml", *run.kind)));
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

// The test was under another value of this option than config.toml has. A language model and a T5 have one encoding in
// training and may have another at test, so pages call that test_encoding.
void retested(Run& run, const std::string& option, const std::string& value) {
  const bool of_test = option.starts_with("eval_") || option.starts_with("test_");
  const std::string shown = of_test ? option : "test_" + option;
  run.retested[option] = run.config[shown] = value;
  if (run.test.empty())
    run.setting[shown] = value;
  else
    run.other_test += fmt::format("{}{}={}", run.other_test.empty() ? "" : " ", shown, shortened(value));
}

// result.json says under which options eval.csv was measured: those of config.toml, unless an earlier version of poslab
// tested the run again.
void read_own_options(Run& run, const std::string& path) {
  const Json result = try_json(read_file(path));
  const Json config = result.is_object() ? result.value("config", Json::object()) : Json::object();
  for (const std::string& name : run.kind->tested) {
    const auto said = config.find(name);
    const auto own = run.config.find(name);
    const std::string& standard = kept_option(*run.kind, name).standard;  // a newer option is written if away from it
    const std::string before = own == run.config.end() ? standard : own->second;
    const std::string now = config.empty()         ? before
                            : said == config.end() ? standard
                            : said->is_string()    ? said->get<std::string>()
                            : said->is_boolean()   ? (said->get<bool>() ? "on" : "off")
                                                   : said->dump();
    if (now != before) retested(run, name, now);
  }
}

// Language models and T5s record no options of their own test, but have its lengths.
void read_own_lengths(Run& run) {
  const bool times = *run.kind == language_kind();  // of the trained length
  const std::string option = times ? "eval_times" : "eval_lengths";
  if (!run.config.count(option)) return;
  const double unit = times ? run.train_length : 1;
  std::set<long> asked, tested;
  for (const std::string& one : split(run.config[option], '/'))
    asked.insert(std::lround(unit * std::atof(one.c_str())));
  std::string lengths;
  for (const AtLength& at : run.tested)
    if (tested.insert(at.length).second) lengths += fmt::format("{}{}", lengths.empty() ? "" : "/", at.length / unit);
  if (tested != asked) retested(run, option, lengths);
  if (const std::string samples = fmt::format("{}", run.tested.front().samples); samples != run.config["eval_samples"])
    retested(run, "eval_samples", samples);
}

void read_result(Run& run) {
  const std::string path = (fs::path(run.folder) / json_of_test(run.test)).string();
  if (!fs::exists(path))
    bad_input("report: {} has no result.json; finish it with `poslab resume {}`", run.folder, shell_word(run.folder));
  run.record = read_record(path);
  if (!run.test.empty()) return;
  read_own_options(run, path);
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
  const auto path = [&](const std::string& name) { return (fs::path(run.folder) / name).string(); };
  const std::string csv = csv_of_test(run.test), record = json_of_test(run.test);
  if (!fs::exists(path(csv)))
    bad_input("report: {} has no eval.csv; finish it with `poslab lm resume {}`", run.folder, shell_word(run.folder));
  run.windows = language::read_csv(path(csv));
  for (const language::AtLength& at : run.windows)
    if (!at.repeated) run.tested.push_back({at.length, int(at.samples), at.accuracy, at.accuracy, at.loss, {}});
  std::sort(run.tested.begin(), run.tested.end(), [](auto& a, auto& b) { return a.length < b.length; });
  if (run.tested.empty()) damaged(run.folder, csv, "it has no plain text; test the run again");
  if (fs::exists(path(record))) run.record = read_record(path(record));
  if (run.test.empty()) read_own_lengths(run);
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
  const std::string path = (fs::path(whole.folder) / csv_of_test(whole.test)).string();
  if (!fs::exists(path))
    bad_input("report: {} has no eval.csv; finish it with `poslab t5 resume {}`", whole.folder,
              shell_word(whole.folder));
  std::vector<Run> all;
  for (const t5::AtLength& at : t5::read_csv(path)) {
    if (all.empty() || all.back().task != at.task) {
      all.push_back(whole);
      all.back().task = at.task;
      if (const auto record = fs::path(whole.folder) / json_of_test(whole.test); fs::exists(record))
        all.back().record = read_record(record.string());
    }
    static_assert(t5::places == language::parts);
    language::AtLength window{.length = at.length, .samples = at.samples, .loss = at.loss, .accuracy = at.accuracy};
    std::copy(std::begin(at.accuracy_of_place), std::end(at.accuracy_of_place), window.accuracy_of_part);
    all.back().windows.push_back(window);
    all.back().tested.push_back({at.length, int(at.samples), at.accuracy, at.accuracy, at.loss, {}});
  }
  for (Run& run : all) {
    std::sort(run.tested.begin(), run.tested.end(), [](auto& a, auto& b) { return a.length < b.length; });
    if (run.test.empty()) read_own_lengths(run);
  }
  return all;
}

// The run as it was tested under run.test.
std::vector<Run> read_test(Run run) {
  if (*run.kind == t5_kind()) return tasks_of(run);
  if (*run.kind == language_kind())
    read_language(run);
  else
    run.tested = read_eval_csv(run.folder, csv_of_test(run.test)), read_result(run);
  return {run};
}

}  // namespace

std::string Run::place() const { return test.empty() ? folder : folder + "/" + csv_of_test(test); }

std::vector<Run> read_runs(const std::string& folder, std::vector<std::string>& passed) {
  if (!fs::is_directory(folder)) bad_input("report: there is no run folder \"{}\"", folder);
  Run run;
  run.folder = folder;
  while (run.folder.size() > 1 && run.folder.back() == '/') run.folder.pop_back();
  run.kind = &kind_of_folder(run.folder);
  read_config(run);
  Run untrained = run;  // a second curve of the same training says nothing
  read_training(run);
  std::vector<Run> all = read_test(run);
  const std::optional<int64_t> steps = all.front().record.steps;
  for (const std::string& name : other_tests(run.folder)) {
    Run other = untrained;
    other.test = name;
    const RunRecord record = read_record(run.folder + "/" + json_of_test(name));
    if (steps && record.steps && record.steps != steps) {
      passed.push_back(fmt::format("{} was tested at step {}, and the run is at {}; test it again with `{}`",
                                   other.place(), *record.steps, *steps,
                                   test_command(*run.kind, run.folder, {name, record.test})));
      continue;
    }
    for (const std::string& option : run.kind->tested)
      if (const auto said = record.test.find(option); said != record.test.end()) retested(other, option, said->second);
    for (Run& one : read_test(other)) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace poslab::report
