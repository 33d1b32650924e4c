// The settings of the runs, and the commands to repeat them.
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "core/error.h"
#include "lab/files/shell.h"
#include "lab/pages/report/sections.h"

namespace poslab::report {
namespace {

using namespace page;

std::string shown(const std::optional<std::string>& word) { return word.value_or("–"); }
std::string shown(const std::optional<int64_t>& number) { return number ? fmt::format("{}", *number) : "–"; }
std::string shown(const std::optional<double>& number) { return number ? fmt::format("{:.1f}", *number) : "–"; }

// The command that trains a run, which also tests it; or, for a test under other options, the command of the test.
std::string command_for(const TestedRun& run) {
  if (!run.again.empty()) return run.again + "\n";
  const std::string again = run.folder + "-again";
  if (!run.test.empty()) return test_command(*run.kind, again, {run.test, run.retested}) + "\n";
  return fmt::format("poslab {} --config {} --out {}\n", run.kind->command("train"),
                     shell_path(run.folder + "/config.toml"), shell_path(again));
}

// A row for each key: the common value of a line's runs, or all their values.
json row(const std::vector<const Line*>& lines, const std::string& key,
         const std::function<std::string(const TestedRun&)>& value) {
  json cells = json::array({key});
  for (const Line* line : lines) {
    std::vector<std::string> values;
    for (const TestedRun* run : line->runs)
      if (const std::string one = value(*run); std::find(values.begin(), values.end(), one) == values.end())
        values.push_back(one);
    cells.push_back(fmt::format("{}", fmt::join(values, ", ")));
  }
  return cells;
}

// The commands that repeat the runs and the page `out`.
std::string commands(const std::vector<const Line*>& lines, const std::string& out) {
  std::set<std::string> named;
  std::string folders, trainings, tests;
  for (const Line* line : lines)
    for (const TestedRun* run : line->runs) {
      if (!named.insert(run->place()).second) continue;  // a T5 has a line for each of its tasks
      (run->test.empty() ? trainings : tests) += command_for(*run);
      const bool checkpoint = !run->again.empty();  // a checkpoint is not trained again
      if (run->test.empty() != checkpoint && named.insert("report " + run->folder).second)
        folders += " " + shell_path(checkpoint ? run->folder : run->folder + "-again");
    }
  return trainings + tests + (folders.empty() ? "" : fmt::format("poslab report{} -o {}", folders, shell_path(out)));
}

}  // namespace

json configuration(const std::vector<Group>& groups, const std::string& out) {
  std::vector<const Line*> all;
  std::set<std::string> keys;
  json columns = json::array(), rows = json::array();
  for (const Group& g : groups)
    for (const Line& line : g.lines) {
      all.push_back(&line), columns.push_back(named(line));
      for (const TestedRun* run : line.runs)
        for (const auto& [key, value] : run->config) keys.insert(key);
    }
  for (const std::string& key : keys)
    rows.push_back(row(all, key, [&](const TestedRun& r) { return r.config.count(key) ? r.option(key) : "–"; }));
  const auto made_by = [&](const char* name, auto figure) {
    return row(all, name, [figure](const TestedRun& run) { return shown(run.record.*figure); });
  };
  const json made =
      json::array({made_by("version of poslab", &RunRecord::version), made_by("commit", &RunRecord::commit),
                   made_by("threads used", &RunRecord::threads), made_by("instruction set", &RunRecord::isa),
                   made_by("seconds of training", &RunRecord::seconds)});
  const json settings = {
      {"kind", "settings"},
      {"label", "Configuration"},
      {"columns", columns},
      {"parts", {{{"name", "made by"}, {"rows", made}}, {{"name", "configuration"}, {"rows", rows}}}}};
  return section("configuration", "Configuration",
                 {settings, folded("To make the runs and this page again",
                                   {{"kind", "commands"}, {"text", commands(all, out)}}, all.size() <= 2)});
}

}  // namespace poslab::report
